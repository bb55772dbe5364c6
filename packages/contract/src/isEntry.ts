import type { Entry } from '@stowage/rules';

/** Whether the schema `entry` accepts this JSON value, checked by hand: a listing may have a hundred thousand of them. */
export function isEntry(value: unknown): value is Entry {
	if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
	const {
		name,
		path,
		type,
		size,
		mtime,
		owner,
		count,
		protected: isProtected,
		unreadable,
		role,
		members,
		versions,
	} = value as Record<string, unknown>;
	return (
		typeof name === 'string' &&
		typeof path === 'string' &&
		(type === 'file' || type === 'directory') &&
		Number.isFinite(size) &&
		Number.isFinite(mtime) &&
		(owner === undefined || owner === null || typeof owner === 'string') &&
		(count === undefined || Number.isFinite(count)) &&
		(isProtected === undefined || isProtected === true) &&
		(unreadable === undefined || unreadable === true) &&
		(role === undefined || role === 'view' || role === 'edit') &&
		(members === undefined || Number.isFinite(members)) &&
		(versions === undefined || Number.isFinite(versions))
	);
}
