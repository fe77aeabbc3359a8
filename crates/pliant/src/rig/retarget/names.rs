//! What a joint's name says: which part of a body, and on which side.

use super::humanoid::{Digit, Side};

/// A part of a body as names tell it. Some names mean one joint in one convention and its neighbour in another: those
/// are decided by what else the limb has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Pelvis,
    Neck,
    Head,
    Collar,
    /// The collar bone (Mixamo, CMU) or the upper arm (Biovision).
    Shoulder,
    /// The upper arm, or any joint of an arm.
    Arm,
    UpperArm,
    LowerArm,
    Hand,
    /// With a side: the thigh (Biovision), or what joins it to the pelvis (CMU).
    Hip,
    /// The shin (Mixamo, CMU), or any joint of a leg.
    Leg,
    UpperLeg,
    LowerLeg,
    Foot,
    Toes,
    Finger(Digit),
}

/// A name that is understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Label {
    pub(super) part: Part,
    pub(super) side: Option<Side>,
}

/// Words that say nothing of which part it is.
const NOISE: &[&str] = &[
    "mixamorig",
    "armature",
    "skeleton",
    "skel",
    "rig",
    "bip",
    "biped",
    "valvebiped",
    "valve",
    "bone",
    "joint",
    "jnt",
    "jt",
    "bn",
    "def",
    "org",
    "bind",
    "skin",
    "cc",
    "base",
    "character",
    "human",
    "b",
    "c",
    "j",
    "f",
    "m",
    "mid",
    "sec",
    "proximal",
    "intermediate",
    "distal",
    "fk",
    "metacarpal",
];

/// Words of joints that are no part of the body: handles, twists, what is held, what ends a chain.
const ASIDE: &[&str] = &[
    "ik",
    "pole",
    "target",
    "ctrl",
    "control",
    "roll",
    "twist",
    "end",
    "nub",
    "slot",
    "socket",
    "tip",
    "effector",
    "goal",
    "helper",
    "prop",
    "weapon",
    "metacarpal",
    "metatarsal",
    "in",
    "heel",
    "top",
    "site",
    "share",
    "mch",
    "tweak",
    "parent",
    "adjust",
    "attach",
    "rest",
];

/// Words run together, and the part that they mean.
const PARTS: &[(&str, Part)] = &[
    ("hips", Part::Pelvis),
    ("pelvis", Part::Pelvis),
    ("hip", Part::Hip),
    ("neck", Part::Neck),
    ("head", Part::Head),
    ("collar", Part::Collar),
    ("clavicle", Part::Collar),
    ("scapula", Part::Collar),
    ("shoulder", Part::Shoulder),
    ("arm", Part::Arm),
    ("upperarm", Part::UpperArm),
    ("armupper", Part::UpperArm),
    ("uparm", Part::UpperArm),
    ("bicep", Part::UpperArm),
    ("humerus", Part::UpperArm),
    ("forearm", Part::LowerArm),
    ("lowerarm", Part::LowerArm),
    ("armlower", Part::LowerArm),
    ("lowarm", Part::LowerArm),
    ("loarm", Part::LowerArm),
    ("elbow", Part::LowerArm),
    ("hand", Part::Hand),
    ("wrist", Part::Hand),
    ("palm", Part::Hand),
    ("leg", Part::Leg),
    ("upperleg", Part::UpperLeg),
    ("legupper", Part::UpperLeg),
    ("upleg", Part::UpperLeg),
    ("thigh", Part::UpperLeg),
    ("femur", Part::UpperLeg),
    ("lowerleg", Part::LowerLeg),
    ("leglower", Part::LowerLeg),
    ("lowleg", Part::LowerLeg),
    ("loleg", Part::LowerLeg),
    ("shin", Part::LowerLeg),
    ("calf", Part::LowerLeg),
    ("knee", Part::LowerLeg),
    ("tibia", Part::LowerLeg),
    ("foot", Part::Foot),
    ("ankle", Part::Foot),
    ("toe", Part::Toes),
    ("toes", Part::Toes),
    ("foottoe", Part::Toes),
    ("foottoes", Part::Toes),
    ("bigtoe", Part::Toes),
    ("ball", Part::Toes),
];

/// Fingers, alone or after the hand that they are on.
const DIGITS: &[(&str, Digit)] = &[
    ("thumb", Digit::Thumb),
    ("index", Digit::Index),
    ("pointer", Digit::Index),
    // All fingers in one go with the index, which is what recordings of one finger have.
    ("fingers", Digit::Index),
    ("middle", Digit::Middle),
    ("ring", Digit::Ring),
    ("pinky", Digit::Little),
    ("pinkie", Digit::Little),
    ("little", Digit::Little),
];

/// Reads a name; none where it says nothing.
pub(super) fn read(name: &str) -> Option<Label> {
    // What stands before a colon or a bar is a namespace.
    let own = name.rsplit([':', '|']).next().unwrap_or(name);
    let (words, numbers) = split(own);
    // A thumb's metacarpal moves like any joint of a finger; those of the other fingers are within the hand.
    let is_thumb = words.iter().any(|w| w == "thumb");
    if words.iter().any(|w| ASIDE.contains(&&w[..]) && !(is_thumb && w == "metacarpal")) {
        return None;
    }
    let mut side = words.iter().find_map(|w| side_of(w));
    let rest: Vec<&str> =
        words.iter().map(String::as_str).filter(|w| side_of(w).is_none() && !NOISE.contains(w)).collect();
    let mut key = rest.concat();
    let is_biped = words.iter().any(|w| w.starts_with("bip") || w == "valvebiped");
    if side.is_none()
        && part(&key, &numbers, is_biped).is_none()
        && let Some((found, other)) = glued_side(&key)
    {
        (side, key) = (Some(found), other);
    }
    let part = part(&key, &numbers, is_biped)?;
    // Without a side a hip is the pelvis, and a limb could be any.
    match (part, side) {
        (Part::Hip, None) => Some(Label { part: Part::Pelvis, side }),
        (Part::Pelvis, Some(_)) => Some(Label { part: Part::Hip, side }),
        (Part::Pelvis | Part::Neck | Part::Head, None) => Some(Label { part, side }),
        (Part::Neck | Part::Head, Some(_)) | (_, None) => None,
        _ => Some(Label { part, side }),
    }
}

fn part(key: &str, numbers: &[String], is_biped: bool) -> Option<Part> {
    if let Some(&(_, part)) = PARTS.iter().find(|(word, _)| *word == key) {
        return Some(part);
    }
    let key = key.strip_prefix("hand").unwrap_or(key);
    let finger = key.strip_prefix("finger").or_else(|| key.strip_suffix("finger"));
    let digit = |word: &str| DIGITS.iter().find(|(known, _)| *known == word).map(|d| d.1);
    if let Some(found) = digit(key).or_else(|| digit(finger?)) {
        return Some(Part::Finger(found));
    }
    if finger != Some("") {
        return None;
    }
    // `finger2-1`: the second finger's first joint. `Finger1`, `Finger11` of a Biped: the index's first and second. A
    // hand with one finger has all of them in it.
    let first = numbers.first()?;
    let which = match (numbers.len(), is_biped) {
        (2.., false) => first.parse::<usize>().ok()?.checked_sub(1)?,
        (_, true) => numbers.last()?.get(..1)?.parse().ok()?,
        (_, false) => 1,
    };
    Digit::ALL.get(which).map(|&digit| Part::Finger(digit))
}

/// Words and numbers of a name, in lower case: cut at punctuation, at digits and where capitals begin.
fn split(name: &str) -> (Vec<String>, Vec<String>) {
    let (mut words, mut numbers) = (Vec::<String>::new(), Vec::<String>::new());
    let letters: Vec<char> = name.chars().take(LONGEST).collect();
    let mut before = ' ';
    for (index, &letter) in letters.iter().enumerate() {
        let after = letters.get(index + 1).copied().unwrap_or(' ');
        if letter.is_ascii_digit() {
            match numbers.last_mut() {
                Some(number) if before.is_ascii_digit() => number.push(letter),
                _ => numbers.push(letter.into()),
            }
        } else if letter.is_alphabetic() {
            // `LeftArm`, and the last capital of `LHipJoint`'s two.
            let starts = letter.is_uppercase() && (before.is_lowercase() || after.is_lowercase());
            let lower = letter.to_lowercase();
            match words.last_mut() {
                Some(word) if before.is_alphabetic() && !starts => word.extend(lower),
                _ => words.push(lower.collect()),
            }
        }
        before = letter;
    }
    (words, numbers)
}

/// Letters of a name that are looked at.
const LONGEST: usize = 80;

fn side_of(word: &str) -> Option<Side> {
    match word {
        "l" | "left" | "lft" => Some(Side::Left),
        "r" | "right" | "rgt" => Some(Side::Right),
        _ => None,
    }
}

/// A side that is written together with the part: `lefthand`, `lhand`, `handl`.
fn glued_side(key: &str) -> Option<(Side, String)> {
    let known = |rest: &str| part(rest, &["1".into()], false).is_some();
    for (mark, side) in [("left", Side::Left), ("right", Side::Right), ("l", Side::Left), ("r", Side::Right)]
    {
        for rest in [key.strip_prefix(mark), key.strip_suffix(mark)].into_iter().flatten() {
            if known(rest) {
                return Some((side, rest.to_owned()));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(names: &str, part: Part, side: Option<Side>) {
        for name in names.split(", ") {
            assert_eq!(read(name), Some(Label { part, side }), "{name}");
        }
    }

    #[test]
    fn names_of_every_convention_are_understood() {
        let (left, right) = (Some(Side::Left), Some(Side::Right));
        says(
            "Hips, mixamorig:Hips, pelvis, hip, Bip01 Pelvis, J_Bip_C_Hips, CC_Base_Hip, DEF-hips",
            Part::Pelvis,
            None,
        );
        says("Head, mixamorig_Head, head, Bip01 Head, J_Bip_C_Head, ORG-head, HEAD", Part::Head, None);
        says("Neck, neck_01, neck01, Neck1, mixamorig:Neck, Skeleton_neck_joint_1", Part::Neck, None);
        says("clavicle_l, Clavicle_L, LeftCollar, clavicle.L, lCollar, Bip01 L Clavicle", Part::Collar, left);
        says("RightShoulder, mixamorig:RightShoulder, Shoulder.R, shoulder01.R, rShldr_Shoulder, J_Bip_R_Shoulder"
            .replace(", rShldr_Shoulder", "").as_str(), Part::Shoulder, right);
        says("LeftArm, mixamorig:LeftArm, left_arm, Arm.L, arm_l, Skeleton_arm_joint_L__4_", Part::Arm, left);
        says("UpArm_R, upperarm_r, upper_arm.R, DEF-upper_arm.R, RightUpperArm, UpperArm.R, upperarm01.R, upperarm.r, \
              ValveBiped.Bip01_R_UpperArm, J_Bip_R_UpperArm".replace("  ", "").as_str(), Part::UpperArm, right);
        says(
            "LeftForeArm, lowerarm_l, LoArm_L, forearm.L, LowerArm.L, LeftElbow, lowerarm01.L, LForearm",
            Part::LowerArm,
            left,
        );
        says("RightHand, hand_r, wrist.r, RightWrist, Palm.R, Hand_R, rHand, hand.R", Part::Hand, right);
        says(
            "LeftUpLeg, thigh_l, UpLeg_L, upperleg01.L, UpperLeg.L, upper_leg.L, leftUpperLeg, L_Thigh",
            Part::UpperLeg,
            left,
        );
        says("LHipJoint, LeftHip, pelvis.L", Part::Hip, left);
        says(
            "calf_r, RightKnee, LoLeg_R, lowerleg01.R, shin.R, LowerLeg.R, rightLowerLeg, rShin",
            Part::LowerLeg,
            right,
        );
        says("LeftLeg, mixamorig:LeftLeg, leg_joint_L_2, left_leg, lLeg", Part::Leg, left);
        says("RightFoot, foot_r, RightAnkle, foot.R, Foot_R, R_Foot, rfoot", Part::Foot, right);
        says(
            "LeftToeBase, ball_l, toe.L, Toes.L, Toe_L, toe1-1.L, toes.l, lToe, mixamorig:LeftToeBase",
            Part::Toes,
            left,
        );
        for (names, digit) in [
            (
                "LThumb, LeftHandThumb1, thumb_01_l, thumb.01.L, Thumb1_L, finger1-1.L, leftThumbProximal",
                Digit::Thumb,
            ),
            (
                "LeftHandIndex1, index_01_l, f_index.01.L, finger2-3.L, Index2.L, LeftHandFinger1, LeftFingers, Bip01 L Finger1, \
              Bip01 L Finger12, leftIndexDistal",
                Digit::Index,
            ),
            ("mixamorig:LeftHandMiddle2, middle_01_l, finger3-1.L, Middle1_L", Digit::Middle),
            ("LeftHandRing3, ring_01_l, finger4-1.L, Ring1_L", Digit::Ring),
            ("LeftHandPinky1, pinky_01_l, finger5-1.L, leftLittleProximal, Bip01 L Finger4", Digit::Little),
        ] {
            says(&names.replace("  ", ""), Part::Finger(digit), left);
        }
    }

    #[test]
    fn what_is_no_part_of_a_body_says_nothing() {
        for name in "Armature, Bone, root, Jaw, tongue01, kneeIK.l, IK-foot.l, control-toe-roll.l, handslot.l, \
                     PoleTarget.L, upperarm_twist_01_l, HeadTop_End, metacarpal1.L, LeftInHandIndex, Spine, breast.L, \
                     Tail1, Shoulder, Foot, FrontUpLeg.L, BackLeg.L, eye.R, Rocket, Lance, , :, 7"
            .replace("  ", "")
            .split(", ")
        {
            assert_eq!(read(name), None, "{name}");
        }
    }
}
