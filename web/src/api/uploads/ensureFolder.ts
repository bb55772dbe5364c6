import { createFolder } from '@stowage/contract';
import { type Area, baseName, isFailure, parentPath, type StoragePath } from '@stowage/rules';
import { endpointUrl } from '../client/client.js';
import { RetryPolicy, type Timing } from './RetryPolicy.js';
import { sessionAgeMs, type UploadListener } from './upload.js';
import { UploadRefusal } from './uploadFailures.js';
import type { SendUpload } from './uploadRequest.js';

export interface FolderPlace {
	area: Area;
	/** The folder above it that exists already. */
	base: StoragePath;
	directory: StoragePath;
	/** The user in whose home, or by whom, it is created; undefined for a visitor. */
	username: string | undefined;
}

/** Creates a folder and those above it unless they exist. Waits and fails as an upload does. */
export type EnsureFolder = (place: FolderPlace, listener: UploadListener, signal: AbortSignal) => Promise<void>;

/** Asks the server once for each folder, however many files go into it. */
export function createEnsureFolder({ send, timing }: { send: SendUpload; timing: Timing }): EnsureFolder {
	const requests = new Map<string, Promise<void>>();

	const ensureFolder: EnsureFolder = async (place, ...rest) => {
		const { area, base, directory } = place;
		if (directory === base) return;
		const key = `${area}/${directory}`;
		const request = requests.get(key) ?? requestFolder(place, ...rest);
		requests.set(key, request);
		try {
			await request;
		} catch (error) {
			requests.delete(key);
			throw error;
		}
	};

	const requestFolder: EnsureFolder = async (place, listener, signal) => {
		const { area, directory, username } = place;
		await ensureFolder({ ...place, directory: parentPath(directory) }, listener, signal);
		const payload = { directory: parentPath(directory), folderName: baseName(directory), type: area };
		const retryPolicy = new RetryPolicy(listener, signal, timing);
		for (;;) {
			try {
				// Somebody else may be signed in meanwhile, in whose home it would be created.
				if (username !== undefined) await listener.waitForSignIn(signal, sessionAgeMs);
				const body = new Blob([JSON.stringify(payload)], { type: 'application/json' });
				const response = await send({ method: 'POST', url: endpointUrl(createFolder), headers: {}, body, signal });
				retryPolicy.onResponse();
				if (response.status < 200 || response.status >= 300) throw new UploadRefusal(response);
				return;
			} catch (error) {
				if (isFailure(error, 'alreadyExists')) return;
				await retryPolicy.waitToRetry(error);
			}
		}
	};

	return ensureFolder;
}
