import type { UserSettings } from '@stowage/rules';

/** What of the draft differs from what is saved; undefined if nothing does. */
export function changedSettings(saved: UserSettings, draft: Partial<UserSettings>): Partial<UserSettings> | undefined {
	const changed = (Object.entries(draft) as [keyof UserSettings, boolean][]).filter(
		([name, value]) => saved[name] !== value,
	);
	return changed.length > 0 ? Object.fromEntries(changed) : undefined;
}
