import { splitName } from '@stowage/rules';
import { smallFileSize, type Upload } from '../../../api/uploads/upload.js';

type Place = Pick<Upload, 'username' | 'area' | 'directory'>;

/** One upload of a run, in the order of the list. */
export interface Turn {
	/** Resolves, once none before it is under way that may get its name, to whether another file of the queue has the name. */
	isTaken: () => Promise<boolean>;
	/** Ends the turn of a file that has got this name, or none. */
	end: (name?: string) => void;
}

interface UnderWay {
	upload: Upload;
	ended: Promise<void>;
}

/**
 * The names that files of a queue have got. What is chosen for names that are taken is meant for what was there before: a
 * file that replaced another one of the queue, or is skipped for it, would be lost where both are chosen to be uploaded.
 */
export class PlacedNames {
	readonly #files = new Map<string, File>();
	readonly #underWay = new Set<UnderWay>();

	add(place: Place, name: string, file: File): void {
		this.#files.set(keyOf(place, name), file);
	}

	/** Call it in the order in which uploads are begun, of which several are under way. */
	begin(upload: Upload): Turn {
		const before = [...this.#underWay].filter((other) => mayCollide(other.upload, upload)).map(({ ended }) => ended);
		let resolve = () => {};
		const ended = new Promise<void>((resolver) => {
			resolve = resolver;
		});
		const own = { upload, ended };
		this.#underWay.add(own);
		return {
			isTaken: async () => {
				await Promise.all(before);
				const other = this.#files.get(keyOf(upload, upload.fileName));
				return other !== undefined && !(await isSameFile(other, upload.file));
			},
			end: (name) => {
				if (name !== undefined) this.add(upload, name, upload.file);
				this.#underWay.delete(own);
				resolve();
			},
		};
	}
}

function keyOf({ username, area, directory }: Place, name: string): string {
	return JSON.stringify([username, area, directory, name]);
}

/** Whether one may get the name of the other, also as a number is added to it. Files that all get other names replace none. */
function mayCollide(a: Upload, b: Upload): boolean {
	if (a.onConflict === 'rename' && b.onConflict === 'rename') return false;
	return keyOf(a, withoutSuffix(a.fileName)) === keyOf(b, withoutSuffix(b.fileName));
}

/** The name without the number, or the `(copy)`, that is added to a name that is taken. */
function withoutSuffix(name: string): string {
	const { base, extension } = splitName(name);
	return base.replace(/ \((?:\d{1,3}|copy)\)$/, '') + extension;
}

/** Whether it was added twice. Files of one time and size may differ, as those of two archives or cameras do. */
async function isSameFile(a: File, b: File): Promise<boolean> {
	if (a === b) return true;
	if (a.size !== b.size || a.lastModified !== b.lastModified) return false;
	try {
		const [first, second] = await Promise.all([a, b].map((file) => file.slice(0, smallFileSize).arrayBuffer()));
		if (!first || !second) return false;
		const bytes = new Uint8Array(second);
		return new Uint8Array(first).every((byte, index) => byte === bytes[index]);
	} catch {
		// It can't be read any more.
		return false;
	}
}
