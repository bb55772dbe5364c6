import TinyQueue from 'tinyqueue';
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
		const heads = new TinyQueue<Head>([], compareHeads);
		const pushNext = async (source: Head['source'], number: number) => {
			const next = await source.next();
			if (next.done !== true) heads.push({ source, number, record: next.value });
		};
		// One after another, or so many files would be open at once.
		for (const [number, source] of sources.entries()) await pushNext(source, number);
		for (let first = heads.pop(); first !== undefined; first = heads.pop()) {
			yield first.record;
			await pushNext(first.source, first.number);
		}
	} finally {
		await Promise.all(sources.map((source) => source.return(undefined)));
	}
}

function compareHeads(a: Head, b: Head): number {
	const [first, second] = [a.record.time, b.record.time];
	if (first === second) return a.number - b.number;
	return first < second ? -1 : 1;
}
