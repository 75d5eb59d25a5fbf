// Light or dark: what the reader chose last, on this page or another; until then, what the system says.

const THEME = "npbert-theme";

// Begin so; from then on this button goes from one to the other.
export function listenToTheme(button) {
  const kept = inMemory((memory) => memory.getItem(THEME));
  if (kept === "light" || kept === "dark") {
    setTheme(button, kept);
  }
  button.addEventListener("click", () => {
    const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    const now = document.documentElement.dataset.theme ?? system;
    setTheme(button, now === "dark" ? "light" : "dark");
  });
}

function setTheme(button, theme) {
  document.documentElement.dataset.theme = theme;
  button.setAttribute("aria-pressed", String(theme === "dark"));
  inMemory((memory) => memory.setItem(THEME, theme));
}

// A browser may keep nothing for a page from disk.
function inMemory(use) {
  try {
    return use(localStorage);
  } catch {
    return null;
  }
}
