import { rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { writeRegularFile } from '@stowage/plugin-api';

/** What the process that builds the index is asked for: to build it anew, or to compare all folders with the disk. */
export type IndexRequest = 'rebuild' | 'check';

/** Asks for it by a file in the folder of the index, which any process over the data folder can write. */
export async function requestOfBuilder(folder: string, request: IndexRequest): Promise<void> {
	await writeRegularFile(path.join(folder, request), '');
}

/** Does what is asked for, if it is, and then removes the request, which so outlives a process that ends in between. */
export async function answerRequest(
	folder: string,
	request: IndexRequest,
	act: () => Promise<void> | void,
): Promise<void> {
	const file = path.join(folder, request);
	if (!(await exists(file))) return;
	await act();
	await rm(file, { force: true });
}

async function exists(file: string): Promise<boolean> {
	return stat(file).then(
		() => true,
		() => false,
	);
}
