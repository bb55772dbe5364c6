import type { StorageProvider } from '@stowage/plugin-api';
import { type Failure, isFailure } from '@stowage/rules';
import type { Measured } from './RootProbes.js';
import type { Roots } from './Roots.js';

/** A root as shown to the administrator. */
export interface RootState {
	name: string;
	rootId: string;
	driver: string;
	location: string | null;
	isDefault: boolean;
	/** Why it can't be used right now; null if it can. */
	fault: string | null;
	/** Why several nodes must not use it at once, a sentence for each reason; null while that can't be found out. */
	sharingFaults: string[] | null;
	/** Bytes; null if unknown. */
	freeBytes: number | null;
	totalBytes: number | null;
}

/** The roots as last read from the database. One whose disk does not answer within this time has that as its fault. */
export function rootStates(roots: Roots, withinMs: number): Promise<RootState[]> {
	return Promise.all(
		roots.records.map(async ({ name, rootId, driver, location }) => {
			const mount = roots.mountOf(rootId);
			const state = { name, rootId, driver, location, isDefault: mount === roots.default };
			return { ...state, ...(await measured(roots, (mount ?? roots.first).storage, withinMs)) };
		}),
	);
}

async function measured(
	{ probes }: Roots,
	storage: StorageProvider,
	withinMs: number,
): Promise<Pick<RootState, 'fault' | keyof Measured>> {
	try {
		return { fault: null, ...(await probes.measure(storage, withinMs)) };
	} catch (error) {
		if (!isFailure(error)) throw error;
		return { fault: withCause(error), sharingFaults: null, freeBytes: null, totalBytes: null };
	}
}

/** Details that are shown to the administrator only: a path, or the message of a plugin. */
function withCause({ message, cause }: Failure): string {
	return cause instanceof Error ? `${message.replace(/\.$/, '')}: ${cause.message}` : message;
}
