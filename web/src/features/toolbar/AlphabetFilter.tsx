import { type LetterFilter, letterFilters } from '@stowage/rules';
import { type KeyboardEvent, memo } from 'react';
import styles from './AlphabetFilter.module.css';
import { toolbarMessages as messages } from './messages.js';
import { stepInRow } from './stepInRow.js';

export interface AlphabetFilterProps {
	letter: LetterFilter;
	onLetter: (letter: LetterFilter) => void;
}

/** One tab stop for all letters, among which the arrow keys move. */
export const AlphabetFilter = memo(function AlphabetFilter({ letter, onLetter }: AlphabetFilterProps) {
	return (
		// biome-ignore lint/a11y/useSemanticElements: these are toggle buttons, not form fields
		<div role="group" aria-label={messages.letters} className={styles.letters} onKeyDown={moveFocus}>
			{letterFilters.map((each) => (
				<button
					key={each}
					type="button"
					aria-pressed={each === letter}
					tabIndex={each === letter ? 0 : -1}
					className={styles.letter}
					onClick={() => onLetter(each)}
				>
					{each}
				</button>
			))}
		</div>
	);
});

function moveFocus(event: KeyboardEvent<HTMLElement>): void {
	const buttons = [...event.currentTarget.querySelectorAll('button')];
	const target = stepInRow(event.key, buttons.indexOf(document.activeElement as HTMLButtonElement), buttons.length);
	if (target === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
	event.preventDefault();
	buttons[target]?.focus();
}
