import test from 'ava';
import type { AuditRecord } from '../../src/audit/auditLine.js';
import { mergeByTime } from '../../src/audit/mergeByTime.js';

async function* source(...records: AuditRecord[]): AsyncGenerator<AuditRecord> {
	yield* records;
}

const recordOf = (time: string, path: string) => ({ time, path, action: 'upload', outcome: 'ok' }) as AuditRecord;

test('records of several files come in the order of time, those of one time in that of their files', async (t) => {
	const merged: string[] = [];
	const sources = [
		source(recordOf('3', 'a'), recordOf('4', 'b')),
		source(),
		source(recordOf('1', 'c'), recordOf('3', 'd')),
	];
	for await (const { path = '' } of mergeByTime([...sources, source(recordOf('1', 'e'), recordOf('5', 'f'))]))
		merged.push(path);
	t.is(merged.join(''), 'ceadbf');
	for (const times of [
		[5, 1, 3],
		[2, 2, 2],
		[8, 7, 6, 5, 4, 3, 2, 1],
		[1, 2, 3, 4, 5, 6, 7, 8],
	]) {
		const all = times.map((time) => source(recordOf(`1${time}`, ''), recordOf(`1${time + 1}`, '')));
		const few: string[] = [];
		for await (const { time } of mergeByTime(all)) few.push(time);
		t.deepEqual(
			few,
			times.flatMap((time) => [`1${time}`, `1${time + 1}`]).sort((a, b) => Number(a) - Number(b)),
		);
	}
});

test('the files of a day are merged without a look at each of them for each line', async (t) => {
	let looks = 0;
	const counted = (time: number): AuditRecord => ({
		...recordOf('', ''),
		get time() {
			looks++;
			return String(time).padStart(4, '0');
		},
	});
	const sources = Array.from({ length: 1000 }, (_, n) => source(counted((n * 7919) % 1000), counted(2000 + n)));
	let found = 0;
	for await (const _ of mergeByTime(sources)) found++;
	t.is(found, 2000);
	t.true(looks < 200_000, `the time of a record was read ${looks} times`);
});

test('sources are ended with the reading of them', async (t) => {
	let ended = 0;
	async function* endless() {
		try {
			for (;;) yield recordOf('1', '');
		} finally {
			ended++;
		}
	}
	for await (const _ of mergeByTime([endless(), endless()])) break;
	t.is(ended, 2);
});
