import type { Registry } from '@stowage/plugin-api';
import { ConfigError } from '../config/load.js';

/** A registry of providers; `what` is their kind in error messages, such as 'storage'. */
export function createRegistry<T>(what: string): Registry<T> {
	const values = new Map<string, T>();
	return {
		register(name, value) {
			if (values.has(name)) throw new Error(`Two plugins offer the ${what} '${name}'.`);
			values.set(name, value);
		},
		get(name) {
			const value = values.get(name);
			if (value === undefined) {
				const known = values.size === 0 ? 'none is offered' : `offered: ${[...values.keys()].join(', ')}`;
				throw new ConfigError(`No plugin offers the ${what} '${name}' (${known}).`);
			}
			return value;
		},
		find: (name) => values.get(name),
		all: () => values,
	};
}
