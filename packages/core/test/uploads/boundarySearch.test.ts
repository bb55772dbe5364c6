import test from 'ava';
import fc from 'fast-check';
import { BoundarySearch } from '../../src/uploads/form/BoundarySearch.js';

const boundary = '\r\n--ab';

interface Found {
	parts: string[];
	isMalformed: boolean;
}

/** What lies between the boundaries, of bytes that come in these chunks. */
function split(chunks: readonly string[]): Found {
	const found: Found = { parts: [''], isMalformed: false };
	const { parts } = found;
	const search = new BoundarySearch(
		Buffer.from(boundary),
		(isBoundary, bytes, start, end) => {
			parts[parts.length - 1] += bytes?.toString('latin1', start, end) ?? '';
			if (isBoundary) parts.push('');
		},
		() => {
			found.isMalformed = true;
		},
	);
	for (const chunk of chunks) search.push(Buffer.from(chunk, 'latin1'));
	search.destroy();
	return found;
}

/** The same of the whole text. */
function expected(text: string): Found {
	const parts: string[] = [];
	for (let at = 0; ; ) {
		const next = text.indexOf(boundary, at);
		const last = parts.pop() ?? '';
		if (next === -1) return { parts: [...parts, last + text.slice(at)], isMalformed: false };
		parts.push(last + text.slice(at, next));
		const behind = text.slice(next + boundary.length);
		const [line] = /^[ \t]*\r\n/.exec(behind) ?? [];
		if (line === undefined) {
			const end = /^(?:--?|[ \t]*\r?)$/.exec(behind)?.[0] ?? (/^--[ \t\r\n]/.test(behind) ? '--' : undefined);
			return { parts: [...parts, end ?? ''], isMalformed: end === undefined };
		}
		parts.push('\r\n');
		at = next + boundary.length + line.length;
	}
}

test('boundaries are found wherever chunks end, and nothing else is lost or added', (t) => {
	const fragment = fc.constantFrom(
		boundary,
		`${boundary}\r\n`,
		`${boundary} \t\r\n`,
		`${boundary}--`,
		' ',
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
				t.deepEqual(split(chunks), expected(chunks.join('')));
			},
		),
		{ numRuns: 2000 },
	);
});

test('a boundary of which each byte comes alone is one', (t) => {
	const { parts } = split([...`x${boundary}\r\ny\r\n--a${boundary} \r\nz${boundary}--\r\n`]);
	t.deepEqual(parts, ['x', '\r\ny\r\n--a', '\r\nz', '--']);
});

test('blanks behind a boundary end where they take long', (t) => {
	const padded = (length: number) => split([`${boundary}${' '.repeat(length)}`, `\r\nx`]);
	t.deepEqual(padded(1000), { parts: ['', '\r\nx'], isMalformed: false });
	t.deepEqual(padded(5000), { parts: ['', ''], isMalformed: true });
	t.true(split([boundary, ...' '.repeat(5000)]).isMalformed);
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
