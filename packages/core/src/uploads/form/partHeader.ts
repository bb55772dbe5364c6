import { Failure } from '@stowage/rules';
import { trimBlanks } from '../../http/requests/trimBlanks.js';

/** The properties of a part from its header. */
export interface PartHeader {
	name: string;
	/** Unmodified; undefined for an ordinary field. */
	fileName: string | undefined;
}

const parameter = /[ \t]*;[ \t]*([\w!#$%&'*+.^`|~-]+)=(?:"((?:[^"\\]|\\.)*)"|([^ \t\n\v\f\r";,]+))/y;

const refuse = (why: string) => new Failure('invalid', `The form is not valid multipart/form-data: ${why}`);

/**
 * Reads the Content-Disposition lines of a part, whose characters stand for bytes. Throws `invalid` for one that two
 * readers may understand differently, and for names that are no UTF-8.
 */
export function parsePartHeader(lines: readonly string[]): PartHeader {
	const [whole = '', ...more] = lines;
	const line = trimBlanks(whole);
	if (!/^form-data[ \t]*(?:;|$)/i.test(line) || more.length > 0)
		throw refuse('a part has no Content-Disposition of its own.');
	const values = new Map<string, string>();
	for (let at = 'form-data'.length; at < line.length; at = parameter.lastIndex) {
		parameter.lastIndex = at;
		const [found, key = '', quoted, token = ''] = parameter.exec(line) ?? [];
		if (found === undefined) throw refuse('a Content-Disposition is malformed.');
		const isExtended = key.endsWith('*');
		const name = (isExtended ? key.slice(0, -1) : key).toLowerCase();
		if (values.has(name)) throw refuse(`a part has two parameters ${name}.`);
		const value = quoted?.replace(/\\(["\\])/g, '$1') ?? token;
		values.set(name, isExtended ? decodeExtended(value) : decodeUtf8(Buffer.from(value, 'latin1')));
	}
	const name = values.get('name');
	if (name === undefined) throw refuse('a part has no name.');
	return { name, fileName: values.get('filename') };
}

/** RFC 8187: the character set, a language, and percent-encoded bytes. */
function decodeExtended(value: string): string {
	const [, encoded] = /^utf-8'[^']*'((?:[\w!#$&+.^`|~-]|%[\da-f]{2})*)$/i.exec(value) ?? [];
	if (encoded === undefined) throw refuse('a name is not UTF-8.');
	const bytes = encoded.replace(/%(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
	return decodeUtf8(Buffer.from(bytes, 'latin1'));
}

/** Text that is kept byte for byte, including a byte order mark. Throws `invalid` for invalid UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string {
	try {
		return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
	} catch (cause) {
		throw new Failure('invalid', 'The form is not valid multipart/form-data: a text is not UTF-8.', { cause });
	}
}
