import { isUtf8 } from 'node:buffer';
import { isPathSegment } from '@stowage/rules';

declare const raw: unique symbol;

/** A name as the disk has it, one character a byte: not every name on a disk is UTF-8. */
export type RawName = string & { readonly [raw]: true };

/** One object in a folder. Its type is `unknown` if the file system does not return it with the name. */
export interface RawEntry {
	name: RawName;
	type: 'file' | 'directory' | 'other' | 'unknown';
}

/** The bytes of a name as people have it. */
export function rawName(name: string): RawName {
	return Buffer.from(name).toString('latin1') as RawName;
}

/** The name as a part of a path for the operating system. */
export function pathPart(name: RawName): string | Buffer {
	return isAscii(name) ? name : Buffer.from(name, 'latin1');
}

/** The decoded name; undefined for one that can't be part of a path. */
export function addressableName(name: RawName): string | undefined {
	// Two quick checks recognize an ordinary name: the kernel guarantees its length and that it contains no slash.
	if (isAscii(name)) return /[\\\u0000-\u001F\u007F]/.test(name) ? undefined : name;
	const bytes = Buffer.from(name, 'latin1');
	// A replacement character in the decoded text does not prove it invalid: the name may truly contain one.
	if (!isUtf8(bytes)) return undefined;
	const text = bytes.toString();
	return isPathSegment(text) ? text : undefined;
}

function isAscii(name: RawName): boolean {
	return !/[^\u0000-\u007F]/.test(name);
}
