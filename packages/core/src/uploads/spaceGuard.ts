import type { StagedFile } from '@stowage/plugin-api';
import { Failure } from '@stowage/rules';

/** Bytes for which an upload asks at once, so that the disk is not asked for every chunk. */
const stepBytes = 16 * 1024 * 1024;

/** Bytes that a storage may hold in memory before they take room on its disk. */
const maxUnwrittenBytes = 4 * 1024 * 1024;

const full = () => new Failure('storageFull', 'There is not enough free space.');

/** Keeps a part of the disk free, whatever arrives at once and however little of it was announced. */
export interface SpaceGuard {
	/** Throws `storageFull` if the reserve is reached already. */
	demandSpace(): Promise<void>;
	/** The same file, but its bytes end with `storageFull` where the next ones would take from the reserve. */
	guarded(staged: StagedFile): StagedFile;
}

export function createSpaceGuard(freeSpace: () => Promise<number>, reserve: number): SpaceGuard {
	/** Bytes that uploads under way were granted and the disk may not know of yet. */
	let promised = 0;

	const available = async (): Promise<number> => {
		// What is written while the disk is asked may be missing from both sides.
		const before = promised;
		const free = await freeSpace();
		return free - reserve - Math.max(before, promised);
	};

	async function* guard(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
		let granted = 0;
		let passed = 0;
		let counted = 0;
		const count = () => {
			const now = granted + Math.min(passed, maxUnwrittenBytes);
			promised += now - counted;
			counted = now;
		};
		try {
			for await (const chunk of body) {
				if (chunk.length > granted) {
					const most = granted + (await available());
					if (most < chunk.length) throw full();
					granted = Math.min(most, Math.max(stepBytes, chunk.length));
				}
				granted -= chunk.length;
				passed += chunk.length;
				count();
				yield chunk;
			}
		} finally {
			promised -= counted;
		}
	}

	return {
		async demandSpace() {
			if (reserve > 0 && (await available()) <= 0) throw full();
		},
		guarded(staged) {
			if (reserve === 0) return staged;
			return {
				id: staged.id,
				size: () => staged.size(),
				append: (body, at) => staged.append(guard(body), at),
				sync: () => staged.sync(),
				commit: (path, options) => staged.commit(path, options),
				discard: () => staged.discard(),
			};
		},
	};
}
