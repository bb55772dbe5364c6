import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { Failure } from '@stowage/rules';
import { datedName } from './rotation.js';
import { explained } from './writeDurably.js';

/** Where a backup is written. */
export type Target =
	| { kind: 'file'; file: string; keep: number | undefined }
	/** Standard output, for a program that reads it. */
	| { kind: 'output' };

const maxKept = 100_000;

/** The target that a command line names: a new file, a folder for a file with a dated name, or `-`. Throws `invalid` and `notFound`. */
export function targetOf(word: string, keepText: string | undefined): Target {
	const keep = keepText === undefined ? undefined : keptCount(keepText);
	if (word === '-') {
		if (keep !== undefined) throw keepNeedsFolder();
		return { kind: 'output' };
	}
	const named = path.resolve(word);
	if (isFolder(named)) return { kind: 'file', file: freeName(named), keep };
	if (word.endsWith('/')) throw new Failure('notFound', `There is no such folder: ${named}`);
	if (keep !== undefined) throw keepNeedsFolder();
	return { kind: 'file', file: named, keep };
}

function keptCount(text: string): number {
	const count = Number(text);
	if (/^\d+$/.test(text) && count >= 1 && count <= maxKept) return count;
	throw new Failure('invalid', `--keep: must be a whole number from 1 to ${maxKept}, not ${text}`);
}

function keepNeedsFolder(): Failure {
	return new Failure('invalid', '--keep removes old backups from a folder: name one that exists.');
}

function isFolder(named: string): boolean {
	try {
		return statSync(named, { throwIfNoEntry: false })?.isDirectory() ?? false;
	} catch (cause) {
		throw explained(cause, named);
	}
}

/** Two backups in a second have different names, too. */
function freeName(folder: string): string {
	for (let time = Date.now(); ; time += 1000) {
		const file = path.join(folder, datedName(time));
		if (!existsSync(file)) return file;
	}
}
