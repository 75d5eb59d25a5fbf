"""Tables of npbert's and Hugging Face's names for the tensors of BERT and its descendants."""

# A row of a table: npbert's name of a part with parameters, and Hugging Face's. @ is the model without its head:
# `bert.` and, say, `roberta.` in a model with a head, nothing in one without. {} is the number of the layer. After a
# class in brackets, rows are for that class alone. a|b|c: one tensor there.
EMBEDDINGS = """
    @embeddings.word_embeddings                   @embeddings.word_embeddings
    @embeddings.position_embeddings               @embeddings.position_embeddings
    @embeddings.token_type_embeddings             @embeddings.token_type_embeddings
    @embeddings.layer_norm                        @embeddings.LayerNorm
"""
LAYERS = """
    @encoder.layers.{}.attention.query            @encoder.layer.{}.attention.self.query
    @encoder.layers.{}.attention.key              @encoder.layer.{}.attention.self.key
    @encoder.layers.{}.attention.value            @encoder.layer.{}.attention.self.value
    @encoder.layers.{}.attention.output           @encoder.layer.{}.attention.output.dense
    @encoder.layers.{}.attention_norm             @encoder.layer.{}.attention.output.LayerNorm
    @encoder.layers.{}.feed_forward.intermediate  @encoder.layer.{}.intermediate.dense
    @encoder.layers.{}.feed_forward.output        @encoder.layer.{}.output.dense
    @encoder.layers.{}.output_norm                @encoder.layer.{}.output.LayerNorm
"""
HEADS = """
    @pooler.dense                                 @pooler.dense
    classifier                                    classifier
    qa_outputs                                    qa_outputs
"""
BERT_WORDS = """
    predictions.dense                             cls.predictions.transform.dense
    predictions.layer_norm                        cls.predictions.transform.LayerNorm
    predictions                                   cls.predictions
    seq_relationship                              cls.seq_relationship
"""
ROBERTA_HEADS = """
    predictions.dense                             lm_head.dense
    predictions.layer_norm                        lm_head.layer_norm
    predictions                                   lm_head
    [BertForSequenceClassification]
    @pooler.dense                                 classifier.dense
    classifier                                    classifier.out_proj
"""
DISTILBERT = """
    @encoder.layers.{}.attention.query            @transformer.layer.{}.attention.q_lin
    @encoder.layers.{}.attention.key              @transformer.layer.{}.attention.k_lin
    @encoder.layers.{}.attention.value            @transformer.layer.{}.attention.v_lin
    @encoder.layers.{}.attention.output           @transformer.layer.{}.attention.out_lin
    @encoder.layers.{}.attention_norm             @transformer.layer.{}.sa_layer_norm
    @encoder.layers.{}.feed_forward.intermediate  @transformer.layer.{}.ffn.lin1
    @encoder.layers.{}.feed_forward.output        @transformer.layer.{}.ffn.lin2
    @encoder.layers.{}.output_norm                @transformer.layer.{}.output_layer_norm
    @pooler.dense                                 pre_classifier
    predictions.dense                             vocab_transform
    predictions.layer_norm                        vocab_layer_norm
    predictions                                   vocab_projector
"""
ELECTRA = """
    @embeddings.projection                        @embeddings_project
    predictions.dense                             generator_predictions.dense
    predictions.layer_norm                        generator_predictions.LayerNorm
    predictions                                   generator_lm_head
    discriminator_predictions.dense               discriminator_predictions.dense
    discriminator_predictions.dense_prediction    discriminator_predictions.dense_prediction
    [BertForSequenceClassification]
    @pooler.dense                                 classifier.dense
    classifier                                    classifier.out_proj
    [BertForMultipleChoice]
    @pooler.dense                                 sequence_summary.summary
"""
_ALBERT_LAYER = "@encoder.albert_layer_groups.{}.albert_layers.0"
ALBERT = f"""
    @embeddings.projection                        @encoder.embedding_hidden_mapping_in
    @encoder.layers.{{}}.attention.query            {_ALBERT_LAYER}.attention.query
    @encoder.layers.{{}}.attention.key              {_ALBERT_LAYER}.attention.key
    @encoder.layers.{{}}.attention.value            {_ALBERT_LAYER}.attention.value
    @encoder.layers.{{}}.attention.output           {_ALBERT_LAYER}.attention.dense
    @encoder.layers.{{}}.attention_norm             {_ALBERT_LAYER}.attention.LayerNorm
    @encoder.layers.{{}}.feed_forward.intermediate  {_ALBERT_LAYER}.ffn
    @encoder.layers.{{}}.feed_forward.output        {_ALBERT_LAYER}.ffn_output
    @encoder.layers.{{}}.output_norm                {_ALBERT_LAYER}.full_layer_layer_norm
    @pooler.dense                                 @pooler
    predictions.dense                             predictions.dense
    predictions.layer_norm                        predictions.LayerNorm
    predictions                                   predictions
    seq_relationship                              sop_classifier.classifier
"""
MPNET = """
    @encoder.layers.{}.attention.query            @encoder.layer.{}.attention.attn.q
    @encoder.layers.{}.attention.key              @encoder.layer.{}.attention.attn.k
    @encoder.layers.{}.attention.value            @encoder.layer.{}.attention.attn.v
    @encoder.layers.{}.attention.output           @encoder.layer.{}.attention.attn.o
    @encoder.layers.{}.attention_norm             @encoder.layer.{}.attention.LayerNorm
    @encoder.layers.{}.attention.dot_product.bias @encoder.relative_attention_bias
"""
MODERNBERT = """
    @embeddings.word_embeddings                   @embeddings.tok_embeddings
    @embeddings.layer_norm                        @embeddings.norm
    @encoder.layers.{}.attention_norm             @layers.{}.attn_norm
    @encoder.layers.{}.attention.query|key|value  @layers.{}.attn.Wqkv
    @encoder.layers.{}.attention.output           @layers.{}.attn.Wo
    @encoder.layers.{}.output_norm                @layers.{}.mlp_norm
    @encoder.layers.{}.feed_forward.gate|intermediate @layers.{}.mlp.Wi
    @encoder.layers.{}.feed_forward.output        @layers.{}.mlp.Wo
    @encoder.norm                                 @final_norm
    @pooler.dense                                 head.dense
    @pooler.norm                                  head.norm
    predictions.dense                             head.dense
    predictions.layer_norm                        head.norm
    predictions                                   decoder
    classifier                                    classifier
    qa_outputs                                    classifier
"""
NOMIC = """
    @embeddings.layer_norm                        @emb_ln
    @encoder.layers.{}.attention.query|key|value  @encoder.layers.{}.attn.Wqkv
    @encoder.layers.{}.attention.output           @encoder.layers.{}.attn.out_proj
    @encoder.layers.{}.attention_norm             @encoder.layers.{}.norm1
    @encoder.layers.{}.feed_forward.gate          @encoder.layers.{}.mlp.fc12
    @encoder.layers.{}.feed_forward.intermediate  @encoder.layers.{}.mlp.fc11
    @encoder.layers.{}.feed_forward.output        @encoder.layers.{}.mlp.fc2
    @encoder.layers.{}.output_norm                @encoder.layers.{}.norm2
    predictions.dense                             cls.predictions.transform.dense
    predictions.layer_norm                        cls.predictions.transform.layer_norm
    predictions                                   cls.predictions
"""
