# # Reading a posterior honestly
#
# A pattern with probability 97 % is not 97 % likely to be true. It has 97 % of the probability *among the programs that
# were found, under this prior*. This tutorial looks at what that means for a column of text.

# %%
# ## The same column, more of it
#
# With few values many programs explain them; with more, fewer do.

import wakesleep

codes = [f"K{1000 + 37 * i}" for i in range(30)]
for count in (2, 5, 30):
    found = wakesleep.explain_strings(codes[:count])
    print(count, [(p.regex, round(p.probability, 3)) for p in found.patterns[:2]])

# %%
# ## What was not among the candidates has no probability
#
# These values are multiples of 37 plus 1000. No program of the language can say so, so none has any probability,
# however many values there are. The posterior is sure of the best of its own programs.

print(found.patterns[0].description)
print(found.log_prob(["K1037", "K1038"]))

# %%
# Both are judged as members: a value that was seen is more probable than one that was not, and that is all.

# %%
# ## Two questions, two answers
#
# `matches` asks whether the exported rule accepts a value; `accepts` whether it is taken for a member, so that about a
# given share of later true values is. They may differ, and `disagreement` says how often they do on the column itself.

values = ["K2000", "k2000", "K20000"]
print(found.matches(values), found.accepts(values, share=0.97), found.disagreement)

# %%
# ## What you can say of it
#
# - "Of the programs found, this one has most of the probability": yes.
# - "This is the format": no; look at `outliers`, at the samples, and at what values of tomorrow would do to it.
# - "A value that does not match is an error": no; ask how many true values are refused, which `share` sets.

assert found.patterns[0].probability <= 1
assert bool(found.accepts(["K1037"])[0])
