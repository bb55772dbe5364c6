/**
 * Whether a key is one of an input method that composes a word, such as in Japanese: Escape, Enter and the arrows are about its
 * candidates then. Safari says so of the key that ends it by its old number only.
 */
export function isComposing({ isComposing, keyCode }: Pick<KeyboardEvent, 'isComposing' | 'keyCode'>): boolean {
	return isComposing || keyCode === 229;
}

/** Keeps the keys of input methods from dialogs, menus and fields of the page. An editor has its own use for them. */
export function holdComposingKeys(): void {
	window.addEventListener(
		'keydown',
		(event) => {
			const isEditor = event.target instanceof HTMLElement && event.target.isContentEditable;
			if (isComposing(event) && !isEditor) event.stopPropagation();
		},
		{ capture: true },
	);
}
