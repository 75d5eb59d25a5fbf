"""Tables of npbert's and Hugging Face's names for the tensors of BERT and its descendants."""

# A row of a table: its kind, npbert's name, and Hugging Face's. @ is the model without its head: `bert.` and, say,
# `roberta.` in a model with a head, nothing in one without. {} is the number of the layer. After a class in brackets,
# rows are for that class alone.
# linear: a weight and a bias. Hugging Face keeps the weight as (out, in), the transpose of npbert's.
# norm: npbert's gamma and beta, which are weight and bias there. table: a weight alone. a|b|c: one tensor there.
EMBEDDINGS = """
    table   @embeddings.word_embeddings                   @embeddings.word_embeddings
    table   @embeddings.position_embeddings               @embeddings.position_embeddings
    table   @embeddings.token_type_embeddings             @embeddings.token_type_embeddings
    norm    @embeddings.layer_norm                        @embeddings.LayerNorm
"""
LAYERS = """
    linear  @encoder.layers.{}.attention.query            @encoder.layer.{}.attention.self.query
    linear  @encoder.layers.{}.attention.key              @encoder.layer.{}.attention.self.key
    linear  @encoder.layers.{}.attention.value            @encoder.layer.{}.attention.self.value
    linear  @encoder.layers.{}.attention.output           @encoder.layer.{}.attention.output.dense
    norm    @encoder.layers.{}.attention_norm             @encoder.layer.{}.attention.output.LayerNorm
    linear  @encoder.layers.{}.feed_forward.intermediate  @encoder.layer.{}.intermediate.dense
    linear  @encoder.layers.{}.feed_forward.output        @encoder.layer.{}.output.dense
    norm    @encoder.layers.{}.output_norm                @encoder.layer.{}.output.LayerNorm
"""
HEADS = """
    linear  @pooler.dense                                 @pooler.dense
    linear  classifier                                    classifier
    linear  qa_outputs                                    qa_outputs
"""
BERT_WORDS = """
    linear  predictions.dense                             cls.predictions.transform.dense
    norm    predictions.layer_norm                        cls.predictions.transform.LayerNorm
    bias    predictions                                   cls.predictions
    linear  seq_relationship                              cls.seq_relationship
"""
ROBERTA_HEADS = """
    linear  predictions.dense                             lm_head.dense
    norm    predictions.layer_norm                        lm_head.layer_norm
    bias    predictions                                   lm_head
    [BertForSequenceClassification]
    linear  @pooler.dense                                 classifier.dense
    linear  classifier                                    classifier.out_proj
"""
DISTILBERT = """
    linear  @encoder.layers.{}.attention.query            @transformer.layer.{}.attention.q_lin
    linear  @encoder.layers.{}.attention.key              @transformer.layer.{}.attention.k_lin
    linear  @encoder.layers.{}.attention.value            @transformer.layer.{}.attention.v_lin
    linear  @encoder.layers.{}.attention.output           @transformer.layer.{}.attention.out_lin
    norm    @encoder.layers.{}.attention_norm             @transformer.layer.{}.sa_layer_norm
    linear  @encoder.layers.{}.feed_forward.intermediate  @transformer.layer.{}.ffn.lin1
    linear  @encoder.layers.{}.feed_forward.output        @transformer.layer.{}.ffn.lin2
    norm    @encoder.layers.{}.output_norm                @transformer.layer.{}.output_layer_norm
    linear  @pooler.dense                                 pre_classifier
    linear  predictions.dense                             vocab_transform
    norm    predictions.layer_norm                        vocab_layer_norm
    bias    predictions                                   vocab_projector
"""
ELECTRA = """
    linear  @embeddings.projection                        @embeddings_project
    linear  predictions.dense                             generator_predictions.dense
    norm    predictions.layer_norm                        generator_predictions.LayerNorm
    bias    predictions                                   generator_lm_head
    linear  discriminator_predictions.dense               discriminator_predictions.dense
    linear  discriminator_predictions.dense_prediction    discriminator_predictions.dense_prediction
    [BertForSequenceClassification]
    linear  @pooler.dense                                 classifier.dense
    linear  classifier                                    classifier.out_proj
    [BertForMultipleChoice]
    linear  @pooler.dense                                 sequence_summary.summary
"""
_ALBERT_LAYER = "@encoder.albert_layer_groups.{}.albert_layers.0"
ALBERT = f"""
    linear  @embeddings.projection                        @encoder.embedding_hidden_mapping_in
    linear  @encoder.layers.{{}}.attention.query            {_ALBERT_LAYER}.attention.query
    linear  @encoder.layers.{{}}.attention.key              {_ALBERT_LAYER}.attention.key
    linear  @encoder.layers.{{}}.attention.value            {_ALBERT_LAYER}.attention.value
    linear  @encoder.layers.{{}}.attention.output           {_ALBERT_LAYER}.attention.dense
    norm    @encoder.layers.{{}}.attention_norm             {_ALBERT_LAYER}.attention.LayerNorm
    linear  @encoder.layers.{{}}.feed_forward.intermediate  {_ALBERT_LAYER}.ffn
    linear  @encoder.layers.{{}}.feed_forward.output        {_ALBERT_LAYER}.ffn_output
    norm    @encoder.layers.{{}}.output_norm                {_ALBERT_LAYER}.full_layer_layer_norm
    linear  @pooler.dense                                 @pooler
    linear  predictions.dense                             predictions.dense
    norm    predictions.layer_norm                        predictions.LayerNorm
    bias    predictions                                   predictions
    linear  seq_relationship                              sop_classifier.classifier
"""
MPNET = """
    linear  @encoder.layers.{}.attention.query            @encoder.layer.{}.attention.attn.q
    linear  @encoder.layers.{}.attention.key              @encoder.layer.{}.attention.attn.k
    linear  @encoder.layers.{}.attention.value            @encoder.layer.{}.attention.attn.v
    linear  @encoder.layers.{}.attention.output           @encoder.layer.{}.attention.attn.o
    norm    @encoder.layers.{}.attention_norm             @encoder.layer.{}.attention.LayerNorm
    table   @encoder.layers.{}.attention.dot_product.bias @encoder.relative_attention_bias
"""
MODERNBERT = """
    table   @embeddings.word_embeddings                   @embeddings.tok_embeddings
    norm    @embeddings.layer_norm                        @embeddings.norm
    norm    @encoder.layers.{}.attention_norm             @layers.{}.attn_norm
    linear  @encoder.layers.{}.attention.query|key|value  @layers.{}.attn.Wqkv
    linear  @encoder.layers.{}.attention.output           @layers.{}.attn.Wo
    norm    @encoder.layers.{}.output_norm                @layers.{}.mlp_norm
    linear  @encoder.layers.{}.feed_forward.gate|intermediate @layers.{}.mlp.Wi
    linear  @encoder.layers.{}.feed_forward.output        @layers.{}.mlp.Wo
    norm    @encoder.norm                                 @final_norm
    linear  @pooler.dense                                 head.dense
    norm    @pooler.norm                                  head.norm
    linear  predictions.dense                             head.dense
    norm    predictions.layer_norm                        head.norm
    bias    predictions                                   decoder
    linear  classifier                                    classifier
    linear  qa_outputs                                    classifier
"""
NOMIC = """
    norm    @embeddings.layer_norm                        @emb_ln
    linear  @encoder.layers.{}.attention.query|key|value  @encoder.layers.{}.attn.Wqkv
    linear  @encoder.layers.{}.attention.output           @encoder.layers.{}.attn.out_proj
    norm    @encoder.layers.{}.attention_norm             @encoder.layers.{}.norm1
    linear  @encoder.layers.{}.feed_forward.gate          @encoder.layers.{}.mlp.fc12
    linear  @encoder.layers.{}.feed_forward.intermediate  @encoder.layers.{}.mlp.fc11
    linear  @encoder.layers.{}.feed_forward.output        @encoder.layers.{}.mlp.fc2
    norm    @encoder.layers.{}.output_norm                @encoder.layers.{}.norm2
    linear  predictions.dense                             cls.predictions.transform.dense
    norm    predictions.layer_norm                        cls.predictions.transform.layer_norm
    bias    predictions                                   cls.predictions
"""
