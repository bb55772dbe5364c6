import { createFolder } from '@stowage/contract';
import { type Area, baseName, isFailure, parentPath, type StoragePath } from '@stowage/rules';
import { endpointUrl } from '../client/client.js';
import { Patience, type Timing } from './RetryPolicy.js';
import type { SendUpload } from './sendUpload.js';
import { UploadRefusal } from './uploadFailures.js';
import type { UploadListener } from './uploads.js';

export interface FolderPlace {
	area: Area;
	/** This much of it is there already. */
	within: StoragePath;
	directory: StoragePath;
}

/** Makes a folder and those above it; one that is there is as good as a new one. Waits and fails as an upload does. */
export type MakeFolder = (place: FolderPlace, listener: UploadListener, signal: AbortSignal) => Promise<void>;

/** Asks the server once for each folder, however many files go into it. */
export function newFolderMaker({ send, timing }: { send: SendUpload; timing: Timing }): MakeFolder {
	const made = new Map<string, Promise<void>>();

	const make: MakeFolder = async (place, ...rest) => {
		const { area, within, directory } = place;
		if (directory === within) return;
		const key = `${area}/${directory}`;
		const known = made.get(key) ?? makeOne(place, ...rest);
		made.set(key, known);
		try {
			await known;
		} catch (error) {
			made.delete(key);
			throw error;
		}
	};

	const makeOne: MakeFolder = async ({ area, within, directory }, listener, signal) => {
		await make({ area, within, directory: parentPath(directory) }, listener, signal);
		const payload = { directory: parentPath(directory), folderName: baseName(directory), type: area };
		const patience = new Patience(listener, signal, timing);
		for (;;) {
			try {
				const body = new Blob([JSON.stringify(payload)], { type: 'application/json' });
				const answer = await send({ method: 'POST', url: endpointUrl(createFolder), headers: {}, body, signal });
				patience.goesOn();
				if (answer.status < 200 || answer.status >= 300) throw new UploadRefusal(answer);
				return;
			} catch (error) {
				if (isFailure(error, 'alreadyExists')) return;
				await patience.wait(error);
			}
		}
	};

	return make;
}
