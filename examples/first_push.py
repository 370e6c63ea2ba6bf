"""Push the TORO-like robot, and see what became of it."""

import balance

recording = balance.run("toro_push", overrides={"duration_s": 4.0})
summary = recording.summary()
share = summary["ankle_limit_fraction"]
print(f"{summary['robot']}, law {summary['law']}: {summary['outcome']}")
print(f"{summary['impulse_Ns']:.1f} N s, {100 * share:.0f} % of what ankles alone can catch")
print(f"the CoM moved by {1000 * summary['peak_com_error_m']:.0f} mm")
