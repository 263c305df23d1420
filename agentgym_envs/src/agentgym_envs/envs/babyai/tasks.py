"""The tasks: AgentGym's 40 levels of BabyAI, each with 70 seeds."""

from agentgym_envs.tasks import Task, TaskSet

# In AgentGym's order. AgentGym's task number is 40 · seed + index in this list.
LEVELS = (
    "GoToRedBallGrey",
    "GoToRedBall",
    "GoToRedBallNoDists",
    "GoToObjS4",  # AgentGym's name is GoToObjS6-v0, which was a room of 4
    "GoToLocalS8N7",
    "GoToObjMazeS7",
    "GoToImpUnlock",
    "GoToSeqS5R2",
    "GoToRedBlueBall",
    "GoToDoor",
    "GoToObjDoor",
    "Open",
    "OpenRedDoor",
    "OpenDoorLoc",
    "OpenRedBlueDoorsDebug",
    "OpenDoorsOrderN4Debug",
    "Pickup",
    "UnblockPickup",
    "PickupLoc",
    "PickupDistDebug",
    "PickupAbove",
    "PutNextLocalS6N4",
    "PutNextS7N4Carrying",
    "Unlock",
    "UnlockLocalDist",
    "KeyInBox",
    "UnlockPickupDist",
    "BlockedUnlockPickup",
    "UnlockToUnlock",
    "ActionObjDoor",
    "FindObjS7",
    "KeyCorridorS6R3",
    "OneRoomS20",
    "MoveTwoAcrossS8N9",
    "SynthS5R2",
    "SynthLoc",
    "SynthSeq",
    "MiniBossLevel",
    "BossLevel",
    "BossLevelNoUnlock",
)
FAMILIES = {
    "GoTo": LEVELS[:11],
    "Pickup": ("PickupLoc", "PickupDistDebug", "PickupAbove"),
    "ActionObjDoor": ("ActionObjDoor",),
    "FindObjS7": ("FindObjS7",),
    "OneRoomS20": ("OneRoomS20",),
    "SynthLoc": ("SynthLoc",),
}
"""The six families of the paper: name -> levels."""
SEEDS = {"train": range(20, 70), "dev": range(10, 20), "test": range(10)}
# The README names the reason for each level: the seed has no solution, minigrid's bot does not
# solve it, or it builds the same world as another seed.
LEFT_OUT: dict[str, frozenset[int]] = {
    "GoToImpUnlock": frozenset({6, 14, 35, 63}),
    "OpenDoorsOrderN4Debug": frozenset(
        {
            0,
            1,
            2,
            4,
            5,
            7,
            8,
            9,
            10,
            11,
            12,
            13,
            14,
            15,
            16,
            17,
            18,
            19,
            21,
            22,
            25,
            28,
            29,
            30,
            31,
            32,
            33,
            34,
            38,
            39,
            40,
            42,
            43,
            44,
            45,
            47,
            49,
            52,
            53,
            54,
            56,
            57,
            59,
            60,
            62,
            63,
            65,
            66,
            67,
            69,
        }
    ),
    "GoToObjS4": frozenset({28, 33, 42, 54, 66, 67}),
    "GoToRedBallNoDists": frozenset({67}),
    "OpenRedBlueDoorsDebug": frozenset({49, 57}),
    "OpenRedDoor": frozenset({5, 13, 15, 17, 33, 35, 39, 41, 49, 50, 53, 55, 58, 64, 66, 67, 68}),
    "PickupDistDebug": frozenset({36, 52}),
    "PutNextS7N4Carrying": frozenset({33, 51, 66}),
    "SynthS5R2": frozenset({18, 28}),
    "Unlock": frozenset({63}),
    "UnlockToUnlock": frozenset(
        {
            4,
            7,
            9,
            17,
            18,
            19,
            26,
            29,
            30,
            34,
            36,
            37,
            38,
            42,
            43,
            44,
            48,
            50,
            52,
            57,
            58,
            59,
            61,
            63,
        }
    ),
}


def babyai_tasks() -> TaskSet:
    """Returns one task per level and seed. The difficulty is the level's index in ``LEVELS``."""
    return TaskSet(
        Task(
            id=f"{level}-{seed}",
            split=split,
            difficulty=number,
            data={"level": level, "seed": seed},
        )
        for split, seeds in SEEDS.items()
        for number, level in enumerate(LEVELS)
        for seed in seeds
        if seed not in LEFT_OUT.get(level, ())
    )
