import { translated } from '../connection/errors.js';

/** The same store, but what its methods throw is what it means to callers: `unavailable`, `alreadyExists`, and so on. */
export function guarded<Store extends object>(store: Store): Store {
	const methods = Object.entries(store).map(([name, method]) => [name, guardedMethod(method)]);
	return Object.fromEntries(methods) as Store;
}

function guardedMethod(method: (...values: unknown[]) => Promise<unknown>) {
	return async (...values: unknown[]): Promise<unknown> => {
		try {
			return await method(...values);
		} catch (error) {
			throw translated(error);
		}
	};
}
