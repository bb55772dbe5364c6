import type { AuditRecord } from './auditLine.js';

/** The next record of a source. */
interface Head {
	source: AsyncGenerator<AuditRecord>;
	/** The number of the source, which decides between records of the same time. */
	number: number;
	record: AuditRecord;
}

/** Merges sources that are each in the order of time, of which there may be ten thousands. Their generators are ended with this one. */
export async function* mergeByTime(sources: readonly AsyncGenerator<AuditRecord>[]): AsyncGenerator<AuditRecord> {
	try {
		/** A heap: none comes before its parent, which is at half of its index. */
		const heads: Head[] = [];
		// One after another, or so many files would be open at once.
		for (const [number, source] of sources.entries()) {
			const next = await source.next();
			if (next.done !== true) heads.push({ source, number, record: next.value });
		}
		heads.sort((a, b) => (isBefore(a, b) ? -1 : 1));
		for (let first = heads[0]; first !== undefined; first = heads[0]) {
			yield first.record;
			const next = await first.source.next();
			if (next.done !== true) first.record = next.value;
			else {
				const last = heads.pop() as Head;
				if (last !== first) heads[0] = last;
			}
			sink(heads);
		}
	} finally {
		await Promise.all(sources.map((source) => source.return(undefined)));
	}
}

/** Puts the first one where it belongs. */
function sink(heads: Head[]): void {
	for (let at = 0; ; ) {
		const head = heads[at];
		const [left, right] = [heads[2 * at + 1], heads[2 * at + 2]];
		if (head === undefined || left === undefined) return;
		const [child, childAt] =
			right !== undefined && isBefore(right, left) ? [right, 2 * at + 2] : ([left, 2 * at + 1] as const);
		if (isBefore(head, child)) return;
		heads[at] = child;
		heads[childAt] = head;
		at = childAt;
	}
}

function isBefore(a: Head, b: Head): boolean {
	const [first, second] = [a.record.time, b.record.time];
	return first === second ? a.number < b.number : first < second;
}
