import type { Entry } from '@stowage/rules';
import type { FileVersion } from '../../../../api/previews.js';
import { isChangedMeanwhile, type Replaced } from '../../../../api/textFiles.js';
import { areEqual, type ReadText, type Replacement, readText, writeText } from '../bytes/textBytes.js';

/** A text as it is in the editor now. */
export interface EditedText {
	text: string;
	/** What was replaced in it since it was opened or saved; undefined if that is not known. */
	replacements: readonly Replacement[] | undefined;
}

/** A file that was opened for editing. */
export interface Edited {
	version: FileVersion;
	read: ReadText;
}

/** The file that a text is saved to, as this page knows it. */
export interface Base {
	read: ReadText;
	bytes: Uint8Array;
	replaced: Replaced;
}

export type Saving =
	/** `entry` is undefined if the file had the text already, since the answer to an earlier attempt was lost. */
	| { kind: 'saved'; entry: Entry | undefined; base: Base }
	/** The encoding lacks this character; it is empty if it is not known which one. */
	| { kind: 'lacks'; character: string }
	/** The file is another one now, or gone. */
	| { kind: 'changed'; current: FileVersion | undefined };

export interface FileAccess {
	write: (bytes: Uint8Array<ArrayBuffer>, replaced: Replaced) => Promise<Entry>;
	findCurrent: () => Promise<FileVersion | undefined>;
}

export function baseOf({ read, version: { bytes, etag } }: Edited): Base {
	return { read, bytes, replaced: { kind: 'version', etag } };
}

/** Saves a text unless that would replace what this page has not seen. Throws why it could not be sent. */
export async function saveText(base: Base, { text, replacements }: EditedText, file: FileAccess): Promise<Saving> {
	const written = writeText(base.read, text, replacements);
	if (written.kind === 'lacks') return written;
	const { bytes } = written;
	const saved = (entry: Entry | undefined, replaced: Replaced): Saving => {
		const read = readText(bytes, base.read.encoding) ?? base.read;
		return { kind: 'saved', entry, base: { read, bytes, replaced } };
	};
	const write = async (replaced: Replaced): Promise<Saving | undefined> => {
		try {
			const entry = await file.write(bytes, replaced);
			return saved(entry, await versionOf(bytes, file, replaced));
		} catch (error) {
			if (isChangedMeanwhile(error)) return undefined;
			throw error;
		}
	};

	const first = await write(base.replaced);
	if (first) return first;
	const current = await file.findCurrent();
	if (!current) return { kind: 'changed', current };
	const replaced: Replaced = { kind: 'version', etag: current.etag };
	if (areEqual(current.bytes, bytes)) return saved(undefined, replaced);
	// It has the same content as before, whoever wrote it again.
	const second = areEqual(current.bytes, base.bytes) ? await write(replaced) : undefined;
	return second ?? { kind: 'changed', current };
}

/** The version that was just written. If it can't be told, the next attempt finds out. */
async function versionOf(bytes: Uint8Array, file: FileAccess, former: Replaced): Promise<Replaced> {
	const current = await file.findCurrent().catch(() => undefined);
	const isOurs = current !== undefined && areEqual(current.bytes, bytes);
	return isOurs ? { kind: 'version', etag: current.etag } : former;
}
