"""The metrics of pairs, with every parameter, that are compared."""

NUMBER_METRICS = [
    "KendallTau",
    *(f"KendallTau(tau={name})" for name in ("a", "c", "gamma")),
    *("SomersD", "SomersD(untied_in=score)", "SpearmanRho", "SpearmanRho(rho_formula=d2)"),
    *("PairAccuracy", "PairAccuracy(level=group)", "FCP", "FCP(level=group)"),
    *(
        f"FCP(pooling={pooling}, tie_rule={rule})"
        for pooling in ("queries", "surprise")
        for rule in ("half", "discordant", "ignore")
    ),
    *("FCP(tie_rule=ignore)", "FCP(tie_rule=discordant)"),
]
CLASS_METRICS = [
    *(
        f"{name}({options}){cut}"
        for name in ("PartialAUC", "pAp")
        for options in ("tie_credit=0", "tie_credit=1")
        for cut in ("@1", "@3")
    ),
    *(f"{name}@{k}" for name in ("PartialAUC", "pAp", "AUC") for k in (1, 2, 5, 17, 100)),
    *(
        f"{name}(few_negatives={rule})@{k}"
        for name in ("PartialAUC", "pAp")
        for rule in ("pad", "skip")
        for k in (2, 9)
    ),
    *("AUC(tie_credit=0)@5", "AUC(tie_credit=0.25)@17"),
    *(
        f"WRanking(phi={phi}, scale={scale})"
        for phi in ("mww", "power")
        for scale in ("best", "mean")
    ),
    *(
        f"WRanking(phi={phi}, u0=0.7, scale={scale})"
        for phi in ("rtb", "top")
        for scale in ("best", "mean")
    ),
    "WRanking(phi=power, p=0.5)",
]
