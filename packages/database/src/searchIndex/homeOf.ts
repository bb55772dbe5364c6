import type { StoragePath } from '@stowage/rules';

/** Where the part of a root begins that one owner has; undefined for what lies above them. */
export function homeOf(path: StoragePath): StoragePath | undefined {
	const [first = '', second] = path.split('/');
	if (first === 'users') return second === undefined ? undefined : (`${first}/${second}` as StoragePath);
	return first === '' ? undefined : (first as StoragePath);
}
