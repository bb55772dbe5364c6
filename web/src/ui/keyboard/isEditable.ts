/** Whether the keys of an event belong to a field, which has a use of its own for them. */
export function isEditable(target: EventTarget | null): boolean {
	return target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select'));
}
