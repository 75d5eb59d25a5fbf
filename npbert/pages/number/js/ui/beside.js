// Long work, done a little at a time beside the reader, so that the page never stands still.

// Run a generator to its end; `tell({done, value})` after each while of atOnce milliseconds. Returns what stops it.
export function workBeside(work, tell, atOnce) {
  let timer = setTimeout(goOn, 0);
  function goOn() {
    const until = performance.now() + atOnce;
    let next = work.next();
    while (!next.done && performance.now() < until) {
      next = work.next();
    }
    timer = next.done ? null : setTimeout(goOn, 0);
    tell(next);
  }
  return () => clearTimeout(timer);
}
