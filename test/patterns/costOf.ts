import { check } from 'recheck';

/**
 * A part of a pattern may be repeated more often than this, and is checked as if it were repeated without end: that
 * can only cost more.
 */
const maxCount = 4;

// By itself it would look for Java where npm has no program of it for the system.
process.env.RECHECK_BACKEND ??= process.platform === 'linux' && process.arch === 'x64' ? 'native' : 'worker';

/** Long enough for a busy machine; most take milliseconds. */
const timeout = 120_000;

/**
 * Why the time that a pattern takes may grow faster than the text that it is searched in; undefined if it can't.
 * Decided by automata, which is exact; a pattern with look-arounds or back references that they can't express has no
 * answer, and counts as one that may.
 */
export async function costOf(source: string, flags: string): Promise<string | undefined> {
	const found = await check(withoutCounts(source), flags, { checker: 'automaton', timeout });
	if (found.status === 'safe') return undefined;
	if (found.status === 'unknown') return `not decidable (${found.error.kind})`;
	return `${found.complexity.summary}, such as by ${found.attack.pattern}`;
}

const parts = /\\(?:[pPu]\{[^}]*\}|k<[^>]*>|[\s\S])|\{(\d+)(?:,(\d*))?\}|[\s\S]/g;

/** Counted repetitions with a high bound become endless ones. */
export function withoutCounts(source: string): string {
	let isInClass = false;
	return source.replaceAll(parts, (part, least?: string, most?: string) => {
		if (part === '[') isInClass = true;
		if (part === ']') isInClass = false;
		if (least === undefined || isInClass) return part;
		const highest = most === '' ? Number.POSITIVE_INFINITY : Number(most ?? least);
		return highest <= maxCount ? part : `{${Math.min(2, Number(least))},}`;
	});
}
