"""Architecture: the changes of a descendant of BERT. make_encoder: builds the layers of a configuration."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from npbert.blocks import (
    Encoder,
    EncoderLayer,
    FeedForward,
    GatedFeedForward,
    MultiHeadAttention,
    PreNormEncoderLayer,
    RotaryAttention,
)
from npbert.core import Init
from npbert.layers import DistanceAttention, DotProductAttention, Identity, LayerNorm, RelativeBias, Rotary


@dataclass(frozen=True)
class Architecture:
    """The differences between BERT and its descendants. The defaults are BERT's.

    model_type: as in config.json.
    embedding_size: E, the width of the embeddings before a Linear to D; None: D (ALBERT, ELECTRA: smaller).
    first_position: the first row of the table of positions (RoBERTa, MPNet: 2). Positions then count the real tokens
    before; BERT's are columns of the batch.
    has_types: False for models without token types.
    biases: `all`; `norms`, only LayerNorm's β; or `none`.
    groups: the number of layers that run several times each (ALBERT); 0: L layers run once.
    pre_norm, gated: the layer is a PreNormEncoderLayer, with a GatedFeedForward.
    relative_buckets: of the RelativeBias shared by all layers (MPNet); 0: without.
    rotary: the base of each layer's Rotary; (): without. A shorter list begins again, here and in `reach`.
    reach: of each layer's window, None: no limit.
    base_pooler: True if the model without a head has a pooler.
    pooler: its activation before the head of a classification.
    pools: the pooler reads [CLS], `cls`, or the `mean` of the tokens.
    words_act: the activation in the masked-LM head; "": hidden_act.
    token_pooler: True if the pooler ends with a LayerNorm, and also applies to each token before a head for tokens
    (ModernBERT).
    file: the object in the original config.json; unused entries are written back.
    """

    model_type: str = "bert"
    embedding_size: int | None = None
    first_position: int = 0
    has_types: bool = True
    biases: str = "all"
    groups: int = 0
    pre_norm: bool = False
    gated: bool = False
    relative_buckets: int = 0
    rotary: tuple[float, ...] = ()
    reach: tuple[int | None, ...] = (None,)
    base_pooler: bool = True
    pooler: str = "tanh"
    pools: str = "cls"
    token_pooler: bool = False
    words_act: str = ""
    file: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)


OF_BERT = Architecture()


def make_encoder(config: Any, init: Init) -> Encoder:
    """Return the encoder of a BertConfig."""
    architecture, features, heads = config.architecture, config.hidden_size, config.num_attention_heads
    linear = replace(init, bias=architecture.biases == "all")
    bias = RelativeBias(architecture.relative_buckets, heads, init) if architecture.relative_buckets else None
    layer_class = PreNormEncoderLayer if architecture.pre_norm else EncoderLayer
    network = GatedFeedForward if architecture.gated else FeedForward

    count, dropout = config.num_hidden_layers, config.attention_probs_dropout_prob
    groups = architecture.groups or count
    own = []
    for number in range(groups):
        reach = architecture.reach[number % len(architecture.reach)]
        dot_product: Any = DotProductAttention(heads, dropout)
        if bias or reach is not None:
            dot_product = DistanceAttention(heads, dropout, bias=bias, reach=reach)
        if architecture.rotary:
            base = architecture.rotary[number % len(architecture.rotary)]
            dot_product = RotaryAttention(dot_product, Rotary(features // heads, base, init.dtype))
        layer = layer_class(
            features,
            heads,
            config.intermediate_size,
            init,
            dropout=config.hidden_dropout_prob,
            layer_norm_eps=config.layer_norm_eps,
            attention=MultiHeadAttention(features, heads, linear, dot_product=dot_product),
            feed_forward=network(features, config.intermediate_size, linear, activation=config.hidden_act),
        )
        own.append(layer)
    layers = [own[int(number / (count / groups))] for number in range(count)]
    if not architecture.pre_norm:
        return Encoder(layers)
    layers[0].attention_norm = Identity()  # the embeddings already end with a LayerNorm
    return Encoder(layers, LayerNorm(features, init, eps=config.layer_norm_eps))
