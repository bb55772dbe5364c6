import { Failure } from '../failure.js';
import { foldedName, TriedNames } from './names.js';
import { baseName, maxNameBytes, type StoragePath } from './paths.js';
import { truncateToBytes, utf8Length } from './text.js';

/** The items that were selected for an archive. */
export interface Chosen {
	path: StoragePath;
	type: 'file' | 'directory';
}

/** `{folder}_{date}.zip` for one folder, else `files_{date}.zip` (spec, section 9), with the local date of `now`. */
export function zipFileName(chosen: readonly Chosen[], now: Date): string {
	const [first] = chosen;
	const folder = chosen.length === 1 && first?.type === 'directory' ? baseName(first.path) : '';
	const suffix = `_${localDate(now)}.zip`;
	return truncateToBytes(folder || 'files', maxNameBytes - utf8Length(suffix)) + suffix;
}

function localDate(date: Date): string {
	const month = String(date.getMonth() + 1).padStart(2, '0');
	const day = String(date.getDate()).padStart(2, '0');
	return `${date.getFullYear()}-${month}-${day}`;
}

/**
 * Names chosen items at the top of the archive, one after another in the order of choice: each has its own name wherever
 * it lies, and a twin the next free one of `candidateNames`. Two that a disk could take for the same are twins: of `Photo.jpg` and
 * `photo.jpg` one would replace the other where they are unpacked. None begins with the letter of a drive.
 */
export function archiveNamer(): (chosen: Chosen) => string {
	const taken = new Set<string>();
	const tried = new TriedNames(foldedName);
	return ({ path, type }) => {
		const own = withoutDrive(baseName(path));
		for (const name of tried.candidates(own, type)) {
			const folded = foldedName(name);
			if (taken.has(folded)) continue;
			taken.add(folded);
			tried.record(own, type, name);
			return name;
		}
		throw new Failure('tooLarge', `Too many chosen items have the same name: ${own}`);
	};
}

/**
 * The letter of a drive is no part of a name in an archive (APPNOTE 4.4.17): what lies in a folder that is called `C:`
 * would be unpacked to the drive itself, by programs on Windows that take the name for a path.
 */
function withoutDrive(name: string): string {
	return /^[A-Za-z]:/.test(name) ? `${name[0]}_${name.slice(2)}` : name;
}
