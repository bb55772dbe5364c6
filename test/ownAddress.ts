/**
 * An address of this machine that no other running process takes, so that each of its ports is free. A port that was looked for and let go again may be
 * anybody's by the time it is used: connections that go out take theirs from the same range. Linux has all of 127.0.0.0/8; elsewhere there is only one.
 */
export function ownAddress(): string {
	const { pid } = process;
	return `127.${1 + (pid >> 16)}.${(pid >> 8) & 255}.${pid & 255}`;
}
