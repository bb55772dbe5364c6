import { fstat } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { isOfDatabase } from '@stowage/database';
import { type DescriptorFile, type StagedFile, temporarySpace, withTemporaryFile } from '@stowage/plugin-api';
import { isFailure, noFreeSpace } from '@stowage/rules';
import type { SpaceGuard } from '../../trees/space/freeSpace.js';

const statOf = promisify(fstat);

/** How often the size of a growing file is checked. */
const checkMs = 500;

interface Lending {
	staged: StagedFile;
	space: Pick<SpaceGuard, 'assertSpace' | 'available'>;
	/** Throws if this many more bytes exceed a quota. */
	reserve(bytes: number): Promise<void>;
	temporaryFolder: string;
}

/** Lends a staged file to a program, whose writes are checked against the limits meanwhile. */
export async function withStagedDescriptor<T>(lending: Lending, use: (file: DescriptorFile) => Promise<T>): Promise<T> {
	const { staged, space, reserve, temporaryFolder } = lending;
	if (staged.withLocalFile !== undefined) {
		return staged.withLocalFile(({ descriptor }) => watchGrowth(descriptor, space, reserve, use));
	}
	return withTemporaryFile(temporaryFolder, async (file) => {
		const available = () => temporarySpace(temporaryFolder);
		const assertSpace = async (bytes = 0) => {
			if ((await available()) <= bytes) throw noFreeSpace();
		};
		const result = await watchGrowth(file.fd, { available, assertSpace }, reserve, use);
		await staged.append(file.createReadStream({ start: 0, autoClose: false }), 0);
		return result;
	});
}

async function watchGrowth<T>(
	descriptor: number,
	{ available, assertSpace }: Lending['space'],
	reserve: Lending['reserve'],
	use: (file: DescriptorFile) => Promise<T>,
): Promise<T> {
	const full = new AbortController();
	const over = new AbortController();
	/** The size at the last look. */
	let size = 0;
	/** The most that was written between two looks, of which some is counted late if nobody could be told. */
	let fastest = 0;
	let counted = 0;
	let sizeWithSpace = -1;
	const count = async () => {
		const before = size;
		({ size } = await statOf(descriptor));
		fastest = Math.max(fastest, size - before);
		const grown = size - counted;
		if (grown > 0) {
			try {
				await reserve(grown);
			} catch (error) {
				// Others can't be told of it while the database is away or full: it is counted later, or by what publishes the file.
				if (isFailure(error, 'unavailable') || isOfDatabase(error)) return;
				throw error;
			}
			counted = size;
		}
	};
	/** Counts what was written, and throws unless as much has space as is written between so many looks. */
	const check = async (looks: number) => {
		await count();
		// A whole file takes no more space while it is only read, however full others make the disk meanwhile.
		if (size === sizeWithSpace) return;
		await assertSpace(looks * fastest);
		sizeWithSpace = size;
	};
	const watching = (async () => {
		try {
			for (;;) {
				// The program may write as much again before the next check, and before it has ended.
				await check(2);
				await wait(checkMs, undefined, { signal: over.signal });
			}
		} catch (error) {
			if (!over.signal.aborted) full.abort(error);
		}
	})();
	try {
		const result = await use({ descriptor, maxBytes: Math.max(0, await available()), full: full.signal });
		full.signal.throwIfAborted();
		over.abort();
		await watching;
		await check(0);
		return result;
	} catch (error) {
		throw full.signal.aborted ? full.signal.reason : error;
	} finally {
		over.abort();
		await watching;
	}
}
