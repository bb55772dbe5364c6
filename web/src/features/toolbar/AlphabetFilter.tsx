import { type LetterFilter, letterFilters } from '@stowage/rules';
import { memo } from 'react';
import { toolbarMessages as messages } from './messages.js';
import styles from './Toolbar.module.css';

export interface AlphabetFilterProps {
	letter: LetterFilter;
	onLetter: (letter: LetterFilter) => void;
}

export const AlphabetFilter = memo(function AlphabetFilter({ letter, onLetter }: AlphabetFilterProps) {
	return (
		// biome-ignore lint/a11y/useSemanticElements: these are switches and no fields of a form
		<div role="group" aria-label={messages.letters} className={styles.letters}>
			{letterFilters.map((each) => (
				<button
					key={each}
					type="button"
					aria-pressed={each === letter}
					className={styles.letter}
					onClick={() => onLetter(each)}
				>
					{each}
				</button>
			))}
		</div>
	);
});
