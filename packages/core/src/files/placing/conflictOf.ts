import type { OnConflict } from '@stowage/plugin-api';
import { Failure } from '@stowage/rules';

/** The fields of a call that brings items, as one choice. Throws `invalid` for an `ifMatch` that nothing is replaced by. */
export function conflictOf({
	onConflict: kind = 'rename',
	ifMatch,
}: {
	onConflict?: OnConflict['kind'] | undefined;
	ifMatch?: string | undefined;
}): OnConflict {
	if (ifMatch === undefined) return { kind };
	if (kind !== 'replace') throw new Failure('invalid', 'ifMatch: is for onConflict “replace” only');
	return { kind, ifMatch };
}
