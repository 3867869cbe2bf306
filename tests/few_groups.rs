//! Few groups and bounded losses, which are hard for a contour: every request reaches its precision. Each of these once took more than
//! twenty seconds, or came out wide.

use serde_json::Value;

use crate::common::program::{json, refusal};

/// Whether all statuses of an answer are met: one, or one for each point.
fn met(answer: &Value) -> bool {
    match &answer["status"] {
        Value::Array(all) => !all.is_empty() && all.iter().all(|status| status == "met"),
        status => status == "met",
    }
}

#[test]
fn former_hangs_are_answered_with_the_requested_precision() {
    for command in [
        "curve --discrete-laplace 39/97x2@2 --discrete-laplace 153/100x5@2 --neighbors bounded --from 0 --to 13.4 --points 25",
        "tradeoff --discrete-laplace 153/100x20@3 --discrete-laplace 6/25x1@3 --group 3 --neighbors bounded --alpha 1/2 --alpha 0.362534",
        "delta --discrete-gaussian 51/1000x1 --discrete-gaussian 1475/4099x1 --group 3 --epsilon 0.0861623139 --digits 3",
        "curve --discrete-gaussian 25/1237x200@3 --group 3 --from 0 --to 256042 --points 25 --digits 40",
        "epsilon --discrete-gaussian 1/2x2 --discrete-gaussian 100000001/200000000x4 --delta 69/200",
        "tradeoff --discrete-gaussian 13/25x3 --discrete-gaussian 800001/100000x1 --neighbors bounded --alpha 1/2 --digits 20",
        "tradeoff --discrete-gaussian 5x10 --alpha 0.000153542657843602841586210410350",
        "tradeoff --discrete-gaussian 5x10 --alpha 0.999999999999999999999",
        "tradeoff --discrete-laplace 1000 --alpha 1/2",
        "delta --discrete-laplace 1/3x7@999 --discrete-gaussian 2/7x3@5 --epsilon 500",
        "epsilon --discrete-gaussian 1/50x1000 --discrete-gaussian 50x10 --delta 1e-1489",
        "delta --gaussian 1e18 --epsilon 1e-9",
        "delta --discrete-gaussian 25/1237x200@3 --group 3 --epsilon 0",
        "tradeoff --discrete-gaussian 1/10000x999 --discrete-gaussian 1/5x1 --alpha 1e-184",
        "epsilon --discrete-gaussian 1/10000x2 --discrete-gaussian 1/40x2@3 --delta 1e-300",
        "tradeoff --discrete-gaussian 1000000000x3 --alpha 0.99999999999999 --digits 40",
        "epsilon --discrete-gaussian 1000000000x999@2 --discrete-gaussian 100000000000001/100000x458 --discrete-gaussian 1013/2x10 --delta 1e-64 --digits 40",
        "epsilon --discrete-laplace 24x159 --discrete-gaussian 824917923/5x53 --discrete-laplace 1/832x31@3 --discrete-gaussian 42806213601/100x10 --delta 1e-82 --neighbors bounded",
        "tradeoff --discrete-gaussian 1664982992/4099x1@3 --discrete-gaussian 922/25x100 --discrete-gaussian 4670/25x1@3 --discrete-gaussian 5x999@3 --alpha 1e-174 --neighbors bounded",
        "epsilon --discrete-gaussian 1/10000x2@2 --discrete-gaussian 238554338/4099x3 --discrete-gaussian 1/79x999 --discrete-gaussian 896459/5x3 --delta 1e-300 --neighbors bounded",
    ] {
        let words: Vec<&str> = command.split(' ').collect();
        let answer = json(&words);
        assert!(met(&answer), "{command}: {answer}");
    }
}

/// A result that no engine can compute is wide, not an error: that a trade-off function is at most 1 - alpha always holds.
#[test]
fn a_tradeoff_function_beyond_all_engines_is_bounded() {
    let fine = "--discrete-gaussian 3492279629/25x14 --discrete-laplace 1/6x731 --discrete-laplace 1/61x108@2";
    let command = format!("tradeoff {fine} --discrete-laplace 5185/4099x224 --alpha 0.643599 --neighbors bounded");
    let answer = json(&command.split(' ').collect::<Vec<_>>());
    let end = |key: &str| answer[key][0].to_string().parse::<f64>().unwrap();
    // 1 - alpha is 0.356401; a wide answer is printed with few digits, rounded up.
    assert!(end("beta_lower") >= 0.0 && end("beta_upper") <= 0.357, "{answer}");
    assert!(met(&answer) || answer["status"][0] == "wider", "{answer}");
}

/// A delta below every floating-point number is reported as such, at once. Searching for it with ever longer enumerations took seconds and
/// hundreds of megabytes; so did an epsilon whose search came there.
#[test]
fn a_delta_below_every_float_is_reported_as_such() {
    let mechanism = "--discrete-laplace 4/1237x54@3 --discrete-laplace 26/25x94 --discrete-gaussian 1665226207/100x14";
    let command = format!("delta {mechanism} --epsilon 198.6777419");
    let answer = json(&command.split(' ').collect::<Vec<_>>());
    assert!(!met(&answer), "{answer}");
    assert_eq!(answer["delta"]["lower"].to_string().parse::<f64>().unwrap(), 0.0, "{answer}");
    let upper = answer["delta"]["upper"].to_string();
    let exponent = upper.split_once("e-").and_then(|(_, exponent)| exponent.parse::<u64>().ok());
    assert!(exponent.is_some_and(|exponent| exponent > 300_000_000), "{answer}");
    // The losses of all Laplace counts sum to at most 98: beyond, delta is zero.
    let command = format!("epsilon {mechanism} --delta 1e-200");
    let answer = json(&command.split(' ').collect::<Vec<_>>());
    assert!(met(&answer), "{answer}");
}

/// Twelve and thirty digits enclose one number, whichever engine computes them.
#[test]
fn two_precisions_agree() {
    let number = |value: &Value| value.to_string().parse::<f64>().unwrap();
    for mechanism in
        ["--discrete-gaussian 3.1x2 --discrete-gaussian 4.7x3", "--discrete-laplace 1/3x4 --discrete-gaussian 5x1"]
    {
        for epsilon in ["0", "0.5", "2", "6"] {
            let ask = |digits: &str| {
                let command = format!("delta {mechanism} --epsilon {epsilon} --digits {digits}");
                json(&command.split(' ').collect::<Vec<_>>())["delta"].clone()
            };
            let (coarse, fine) = (ask("12"), ask("30"));
            let [low, high] = ["lower", "upper"].map(|end| number(&coarse[end]));
            let [least, most] = ["lower", "upper"].map(|end| number(&fine[end]));
            // Ends converted to doubles: at most one unit in the last place off.
            assert!(
                low <= most * (1.0 + 1e-15) && least <= high * (1.0 + 1e-15),
                "{mechanism} at {epsilon}: {coarse} {fine}"
            );
        }
    }
}

#[test]
fn invalid_requests_are_refused() {
    assert!(refusal(&["tradeoff", "--discrete-laplace", "1", "--alpha", "1.5"]).contains("alpha"));
    assert!(refusal(&["delta", "--discrete-laplace", "1", "--epsilon=-1"]).contains("epsilon"));
}
