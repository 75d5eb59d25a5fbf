"""Exercise 9: residuals, add & norm."""

RIGHT = {
    "EncoderLayer.backward": """
ds2 = self.output_norm.backward(dy, tape)
df2 = self.dropout.backward(ds2, tape)
dh = ds2 + self.feed_forward.backward(df2, tape)
ds1 = self.attention_norm.backward(dh, tape)
df1 = self.dropout.backward(ds1, tape)
dqueries, dz = self.attention.backward(df1, tape)
dx = ds1 + dqueries
return dx, dz
""",
}
B, PAST_2, PAST_1, THROUGH_2, THROUGH_1 = "EncoderLayer.backward", "ds2 +", "ds1 +", "backward(df2", "backward(df1"
DX, DQUERIES = "ds1 + dqueries", "dqueries\n"
WRONG = [
    ("residuals_lost", B, "ds2 + ", "", "ds1 + ", ""),
    ("residual_around_attention_lost", B, "ds1 + ", ""),
    ("residual_around_feed_forward_lost", B, "ds2 + ", ""),
    ("residual_is_dropped_too", B, PAST_2, "df2 +", PAST_1, "df1 +"),
    ("residual_of_attention_dropped", B, PAST_1, "df1 +"),
    ("residual_of_feed_forward_dropped", B, PAST_2, "df2 +"),
    ("sublayer_is_not_dropped", B, THROUGH_2, "backward(ds2", THROUGH_1, "backward(ds1"),
    ("attention_is_not_dropped", B, THROUGH_1, "backward(ds1"),
    ("feed_forward_is_not_dropped", B, THROUGH_2, "backward(ds2"),
    ("residual_past_the_norm", B, PAST_1, "dh +"),
    ("dy_past_the_norm", B, PAST_2, "dy +"),
    ("pre_norm", B, PAST_2, "dy +", PAST_1, "dh +"),
    ("dy_past_all", B, PAST_1, "dy +"),
    ("first_ds_for_the_second", B, PAST_1, "ds2 +"),
    ("residual_twice_around_feed_forward", B, PAST_2, "2 * ds2 +"),
    ("residual_twice_around_attention", B, PAST_1, "2 * ds1 +"),
    ("queries_lost", B, DX, "ds1"),
    ("outputs_of_attention_swapped", B, "dqueries, dz = self", "dz, dqueries = self"),
    ("both_inputs_in_one", B, DQUERIES, "dqueries + dz\n"),
    ("z_for_queries", B, DQUERIES, "dz\n"),
    ("residual_to_z", B, "dx = ", "dz = ", DQUERIES, "dz\n", "return dx", "return dqueries"),
    ("swapped", B, "return dx, dz", "return dz, dx"),
    ("residual_to_both", B, "return dx, dz", "return dx, ds1 + dz"),
    ("inputs_added_up", B, DX, "dqueries + dz"),
]
