"""Blocks: combinations of layers. `__all__` is in reading order."""

from npbert.blocks.attention import MultiHeadAttention
from npbert.blocks.bert_embeddings import POSITION_KINDS, BertEmbeddings
from npbert.blocks.checkpointed import Checkpointed
from npbert.blocks.encoder import Encoder
from npbert.blocks.encoder_layer import EncoderLayer
from npbert.blocks.feed_forward import ACTIVATIONS, FeedForward, make_activation
from npbert.blocks.gated_feed_forward import GatedFeedForward
from npbert.blocks.masked_lm_head import MaskedLMHead
from npbert.blocks.max_pooling import MaxPooling
from npbert.blocks.mean_pooling import MeanPooling
from npbert.blocks.next_sentence_head import NextSentenceHead
from npbert.blocks.pooler import Pooler
from npbert.blocks.pre_norm_encoder_layer import PreNormEncoderLayer
from npbert.blocks.replaced_token_head import ReplacedTokenHead
from npbert.blocks.rotary_attention import RotaryAttention

__all__ = [
    "ACTIVATIONS",
    "make_activation",
    "FeedForward",
    "MultiHeadAttention",
    "EncoderLayer",
    "Checkpointed",
    "Encoder",
    "BertEmbeddings",
    "POSITION_KINDS",
    "Pooler",
    "MeanPooling",
    "MaxPooling",
    "MaskedLMHead",
    "NextSentenceHead",
    "RotaryAttention",
    "GatedFeedForward",
    "PreNormEncoderLayer",
    "ReplacedTokenHead",
]
