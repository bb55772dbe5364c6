import { Folder } from '../system/Folder.js';

interface Opening {
	readonly folder: Promise<Folder>;
	references: number;
}

/**
 * Open folders that the calls of one burst share. A burst lasts until nothing is left to do at once: nothing can happen to the disk through this process
 * before its end, so sharing is as good as opening anew. Only for uses without a state of their own, such as a position in a listing or a lock.
 */
export class SharedFolders {
	readonly #openings = new Map<string, Opening>();

	/** The folder of that key, opened by the first caller. Each caller disposes of it. */
	async acquire(key: string, open: () => Promise<Folder>): Promise<Folder> {
		const opening = this.#openings.get(key) ?? this.#begin(key, open);
		opening.references++;
		return new SharedFolder(await opening.folder, () => release(opening));
	}

	#begin(key: string, open: () => Promise<Folder>): Opening {
		// One for the burst itself.
		const opening = { folder: open(), references: 1 };
		this.#openings.set(key, opening);
		process.nextTick(() => {
			this.#openings.delete(key);
			release(opening);
		});
		return opening;
	}
}

function release(opening: Opening): void {
	opening.references--;
	if (opening.references > 0) return;
	// Callers that waited for one that could not be opened get its error.
	opening.folder.then(
		(folder) => folder[Symbol.dispose](),
		() => {},
	);
}

class SharedFolder extends Folder {
	readonly #release: () => void;

	constructor(folder: Folder, release: () => void) {
		super(folder.fd, folder.isNamedByDescriptor ? undefined : folder.path);
		this.#release = release;
	}

	override [Symbol.dispose](): void {
		this.#release();
	}
}
