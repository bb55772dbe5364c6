import test from 'ava';
import fc from 'fast-check';
import { BoundarySearch } from '../../src/uploads/form/BoundarySearch.js';

const boundary = '\r\n--ab';

/** What lies between the boundaries, of bytes that come in these chunks. */
function split(chunks: readonly string[]): string[] {
	const parts = [''];
	const search = new BoundarySearch(Buffer.from(boundary), (isBoundary, bytes, start, end) => {
		parts[parts.length - 1] += bytes?.toString('latin1', start, end) ?? '';
		if (isBoundary) parts.push('');
	});
	for (const chunk of chunks) search.push(Buffer.from(chunk, 'latin1'));
	search.destroy();
	return parts;
}

test('boundaries are found wherever chunks end, and nothing else is lost or added', (t) => {
	const fragment = fc.constantFrom(
		boundary,
		'\r',
		'\n',
		'\r\n',
		'\r\n-',
		'\r\n--',
		'\r\n--a',
		'-',
		'a',
		'b',
		'ab',
		'x',
	);
	fc.assert(
		fc.property(
			fc.array(
				fc.array(fragment, { maxLength: 6 }).map((some) => some.join('')),
				{ maxLength: 8 },
			),
			(chunks) => {
				t.deepEqual(split(chunks), chunks.join('').split(boundary));
			},
		),
		{ numRuns: 2000 },
	);
});

test('a boundary of which each byte comes alone is one', (t) => {
	t.deepEqual(split([...`x${boundary}y\r\n--a${boundary}`]), ['x', 'y\r\n--a', '']);
});

test('once it is stopped it reports nothing, also of the chunk at hand', (t) => {
	let reports = 0;
	const search = new BoundarySearch(Buffer.from(boundary), () => {
		if (++reports === 2) search.stop();
	});
	search.push(Buffer.from(boundary.repeat(1000)));
	search.push(Buffer.from(`${boundary}x${boundary}`));
	search.destroy();
	t.is(reports, 2);
});
