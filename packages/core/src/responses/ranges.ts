import type { ByteRange } from '@stowage/plugin-api';
import { trimBlanks } from '../http/requests/trimBlanks.js';

/** More ranges than any player or download manager requests; above that the response is the whole file (RFC 9110, section 14.2). */
const maxRanges = 64;

/**
 * Parses a Range header for something of `size` bytes. `whole`: there is none, or one that must be ignored; `unsatisfiable`: answer 416.
 * Ranges that overlap or touch are joined, so that a response is never longer than the file (RFC 9110, section 17.15). The package
 * range-parser takes `0-5x` and `1-2-3` for ranges and any number of them. Something empty is answered whole to who asks for its first or
 * last bytes, as by nginx: the last ones may be asked for (section 14.1.2), and no `Content-Range` could name them.
 */
export function parseRanges(header: string | undefined, size: number): ByteRange[] | 'whole' | 'unsatisfiable' {
	const match = /^bytes=(.*)$/i.exec(header ?? '');
	if (match === null) return 'whole';
	const ranges: ByteRange[] = [];
	const specs = (match[1] ?? '')
		.split(',')
		.map(trimBlanks)
		.filter((spec) => spec !== '');
	if (specs.length === 0 || specs.length > maxRanges) return 'whole';
	for (const spec of specs) {
		const parts = /^(\d*)-(\d*)$/.exec(spec);
		if (parts === null || (parts[1] === '' && parts[2] === '')) return 'whole';
		const [first, last] = [parts[1] ?? '', parts[2] ?? ''];
		if (first !== '' && last !== '' && Number(last) < Number(first)) return 'whole';
		const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
		const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1);
		if (size === 0 && start === 0) return 'whole';
		if (start <= end && start < size) ranges.push({ start, end });
	}
	return ranges.length === 0 ? 'unsatisfiable' : joinRanges(ranges);
}

function joinRanges(ranges: ByteRange[]): ByteRange[] {
	const overlaps = ranges.some((range, index) =>
		ranges.some((other, at) => at !== index && other.start <= range.end + 1 && range.start <= other.end + 1),
	);
	if (!overlaps) return ranges;
	const joined: ByteRange[] = [];
	for (const range of [...ranges].sort((a, b) => a.start - b.start)) {
		const last = joined.at(-1);
		if (last !== undefined && range.start <= last.end + 1) last.end = Math.max(last.end, range.end);
		else joined.push({ ...range });
	}
	return joined;
}
