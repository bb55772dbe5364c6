import type { IncomingMessage } from 'node:http';
import { Failure } from '@stowage/rules';
import busboy from 'busboy';
import { BoundarySearch, type Report } from './BoundarySearch.js';
import { type PartHeader, parsePartHeader } from './partHeader.js';

const limits = {
	fileSize: Number.POSITIVE_INFINITY,
	files: 1000,
	fields: 2100,
	fieldSize: 64 * 1024,
	headerPairs: 100,
};

/** The longest boundary (RFC 2046, section 5.1.1). To look for one takes its length times that of the form at worst. */
const maxBoundaryLength = 70;

/** busboy's state of the current part, which is missing in its types. */
interface HeaderReader {
	cb(header: Record<string, string[]>): void;
}

/** The parser's search for boundaries, which its types lack, too. */
interface Searching {
	_bparser: { readonly _needle: Buffer; readonly _cb: Report } | BoundarySearch;
}

export interface FormParser {
	parser: busboy.Busboy;
	/** The header of the part that the event at hand is about. */
	part(): PartHeader;
	/** Ends the reading of parts. */
	stop(): void;
}

/**
 * Splits a form into its parts. The headers are parsed here: busboy takes the first of two names, puts a replacement
 * for invalid UTF-8, and lets a part choose another character set. The values of fields come with a character for each
 * byte.
 */
export function createFormParser(request: IncomingMessage, onRefusal: (error: unknown) => void): FormParser {
	if (!/^multipart\/form-data[ \t]*(;|$)/i.test(request.headers['content-type'] ?? '')) {
		throw new Failure('unsupportedMediaType', 'Send the files as multipart/form-data.');
	}
	const parser = createBusboy(request);
	const search = searchFast(parser as busboy.Busboy & Searching, () => onRefusal(malformedLine()));
	let current: PartHeader = { name: '', fileName: undefined };
	readHeadersWith(parser, (header) => {
		try {
			current = parsePartHeader(header['content-disposition'] ?? []);
		} catch (error) {
			onRefusal(error);
		}
		// Nothing is left to busboy but which event the part is.
		header['content-disposition'] = [`form-data; name=x${current.fileName === undefined ? '' : '; filename=x'}`];
		delete header['content-type'];
	});
	return { parser, part: () => current, stop: () => search.stop() };
}

function createBusboy(request: IncomingMessage): busboy.Busboy {
	try {
		return busboy({
			headers: request.headers,
			defCharset: 'latin1',
			highWaterMark: 1024 * 1024,
			fileHwm: 1024 * 1024,
			limits,
		});
	} catch (cause) {
		throw new Failure('invalid', 'The form is not valid multipart/form-data.', { cause });
	}
}

/** Puts our search in the place of busboy's, which has seen nothing yet but the line break that busboy puts before a form. */
function searchFast(parser: Searching, onMalformed: () => void): BoundarySearch {
	if (parser._bparser instanceof BoundarySearch) return parser._bparser;
	const { _needle, _cb } = parser._bparser;
	const length = _needle.length - '\r\n--'.length;
	if (length === 0 || length > maxBoundaryLength) {
		throw new Failure('invalid', `The boundary of the form must have 1 to ${maxBoundaryLength} characters.`);
	}
	const search = new BoundarySearch(_needle, _cb, onMalformed);
	parser._bparser = search;
	search.push(Buffer.from('\r\n'));
	return search;
}

function malformedLine(): Failure {
	const why = 'a line begins with its boundary, and has more than that.';
	return new Failure('invalid', `The form is not valid multipart/form-data: ${why}`);
}

/** Intercepts each header before busboy parses it: busboy offers no way to read one whole. */
function readHeadersWith(parser: busboy.Busboy, onHeader: HeaderReader['cb']): void {
	let reader: HeaderReader | null = null;
	const seen = new WeakSet<HeaderReader>();
	Object.defineProperty(parser, '_hparser', {
		get: () => reader,
		set(next: HeaderReader | null) {
			if (next !== null && !seen.has(next)) {
				seen.add(next);
				const { cb } = next;
				next.cb = (header) => {
					onHeader(header);
					cb(header);
				};
			}
			reader = next;
		},
	});
}
