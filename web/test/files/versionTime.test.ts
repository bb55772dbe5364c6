import test from 'ava';
import { versionTimes } from '../../src/features/files/versions/versionTime.js';

test('versions of one minute are told apart by their seconds, the others have none', (t) => {
	const at = (minute: number, second: number) => ({ mtime: new Date(2026, 10, 21, 14, minute, second).getTime() });
	const versions = [at(5, 9), at(5, 40), at(6, 0)];
	const timeOf = versionTimes(versions);
	t.deepEqual(
		versions.map(({ mtime }) => timeOf(mtime)),
		['Nov 21, 2026, 2:05:09 PM', 'Nov 21, 2026, 2:05:40 PM', 'Nov 21, 2026, 2:06 PM'],
	);
});
