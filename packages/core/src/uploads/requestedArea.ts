import { type Area, Failure } from '@stowage/rules';

/** The area that an upload names by `type`, by `isPublic`, or by both alike. */
export function requestedArea(fields: {
	type?: Area | undefined;
	isPublic?: 'true' | 'false' | undefined;
}): Area | undefined {
	const { type, isPublic } = fields;
	const area: Area | undefined = isPublic === undefined ? undefined : isPublic === 'true' ? 'public' : 'private';
	if (type !== undefined && area !== undefined && type !== area) {
		throw new Failure('invalid', 'isPublic: contradicts type');
	}
	return type ?? area;
}
