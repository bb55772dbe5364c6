/**
 * An address of this machine that no other running process uses, so that each of its ports is free. A port that was
 * reserved and released may be taken by the time it is used: outgoing connections get their ports from the same range.
 * Linux has all of 127.0.0.0/8; other systems have only one address.
 */
export function ownAddress(): string {
	const { pid } = process;
	return `127.${1 + (pid >> 16)}.${(pid >> 8) & 255}.${pid & 255}`;
}
