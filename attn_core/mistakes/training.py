"""Mistakes of the loop that trains a model: each pass is right, and what is learned is not."""

from attn_core.mistakes import loops, runs
from attn_core.mistakes.mistake import Mistake

TRAINING = (
    Mistake(
        name="trained-without-mask",
        title="no mask in training",
        does=(
            "The model is trained without a causal mask, so each place can read the token that it "
            "should predict."
        ),
        symptom=(
            "The loss falls lower than any honest prediction could achieve, and the model writes "
            "nonsense: when it writes, the next token is not there to be read."
        ),
        invisible=(
            "When the model reads only one token of a text, and at the last position of any text."
        ),
        wrong="weights = torch.softmax(scaled, dim=-1)",
        right="weights = torch.softmax(scaled.masked_fill(~causal, -torch.inf), dim=-1)",
        check="(grad[:, 1:] == 0).all()",
        source=("pytorch/tutorials#2478", "huggingface/transformers#48745"),
        where="Loop",
        run=runs.either(loops.mask, loops.Loop, loops.NoMask),
        replaces=(loops.NoMask,),
    ),
    Mistake(
        name="targets-not-shifted",
        title="targets that are not shifted",
        does="Each place learns to predict the token that it reads, not the next one.",
        symptom=(
            "The loss falls towards 0 within a few dozen steps, and the model repeats its last "
            "token forever."
        ),
        invisible="In texts that repeat a single token.",
        wrong="loss = cross_entropy(logits, ids)",
        right="loss = cross_entropy(logits[:-1], ids[1:])  # of one text",
        check="torch.equal(targets[:, :-1], read[:, 1:])",
        source=("huggingface/transformers#3711", "songlab-cal/tape#32"),
        where="Loop",
        run=runs.either(loops.shift, loops.Loop, loops.NotShifted),
        replaces=(loops.NotShifted,),
    ),
    Mistake(
        name="gradients-not-cleared",
        title="gradients that are not cleared",
        does="backward() adds its gradients to those of all earlier steps.",
        symptom=(
            "So each step follows the sum of all gradients so far. The loss falls at first, and "
            "then swings or grows."
        ),
        invisible="In the first step.",
        wrong="loss.backward(); optimizer.step()",
        right="optimizer.zero_grad(); loss.backward(); optimizer.step()",
        check="torch.allclose(used, fresh)",
        source=("huggingface/transformers#340", "pytorch/pytorch#47175"),
        where="Loop",
        run=runs.either(loops.clearing, loops.Loop, loops.NotCleared),
        replaces=(loops.NotCleared,),
    ),
    Mistake(
        name="no-warmup",
        title="no warm-up",
        does=(
            "The first steps use the full learning rate, and in these steps AdamW moves each "
            "weight by about that much, whatever its gradient."
        ),
        symptom=(
            "At a rate that works well with a warm-up, a deep stack with post-norm learns slowly "
            "or not at all."
        ),
        invisible=(
            "With a warm-up of one step. It also does little harm to a stack of few layers, with "
            "pre-norm, or at a smaller rate."
        ),
        wrong="lr = peak",
        right="lr = peak * min(1, step / warmup)",
        check="first_move < peak / 2",
        source=(
            "LiyuanLucasLiu/Transformer-Clinic#16",
            "openclimatefix-archives/predict_pv_yield#43",
        ),
        where="Loop",
        run=runs.either(loops.warmup, loops.Loop, loops.NoWarmup),
        replaces=(loops.NoWarmup,),
    ),
)
