/** A range of bytes: `end` is not part of it. */
export type Part = readonly [start: number, end: number];

/** Covers the same bytes by parts in ascending order that neither overlap nor touch. */
export function mergedParts(parts: readonly Part[]): Part[] {
	const merged: [number, number][] = [];
	for (const [start, end] of [...parts].sort(([one], [other]) => one - other)) {
		const last = merged.at(-1);
		if (last !== undefined && start <= last[1]) last[1] = Math.max(last[1], end);
		else if (end > start) merged.push([start, end]);
	}
	return merged;
}
