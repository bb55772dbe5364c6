import { Classes, Tag } from '@blueprintjs/core';
import { SmallCrossIcon } from '@blueprintjs/icons';
import type { SearchFilters } from '@stowage/rules';
import { type KeyboardEvent, type RefObject, useRef } from 'react';
import styles from './Filters.module.css';
import { filterMessages as messages } from './filterMessages.js';
import { filterTags } from './filters.js';

export interface FilterTagsProps {
	filters: SearchFilters;
	onFilters: (filters: SearchFilters) => void;
	/** Gets the focus when the last tag is removed. */
	button: RefObject<HTMLButtonElement | null>;
}

/** The filters that are set, each with a button that removes it. */
export function FilterTags({ filters, onFilters, button }: FilterTagsProps) {
	const list = useRef<HTMLUListElement>(null);
	const tags = filterTags(filters);
	if (tags.length === 0) return null;
	const remove = (index: number, others: SearchFilters) => {
		// Before the button that has it is removed, or it would be lost.
		const buttons = list.current?.querySelectorAll('button') ?? [];
		(buttons[index + 1] ?? buttons[index - 1] ?? button.current)?.focus();
		onFilters(others);
	};
	return (
		<ul ref={list} aria-label={messages.setFilters} className={styles.tags}>
			{tags.map(({ text, others }, index) => (
				<li key={text}>
					<Tag
						minimal
						round
						size="large"
						className={styles.tag}
						// The button of Blueprint's own has the same name in each tag.
						endIcon={
							<button
								type="button"
								className={Classes.TAG_REMOVE}
								aria-label={messages.removeFilter(text)}
								onClick={() => remove(index, others)}
								onKeyDown={keepFromTag}
								onKeyUp={keepFromTag}
							>
								<SmallCrossIcon />
							</button>
						}
					>
						{text}
					</Tag>
				</li>
			))}
		</ul>
	);
}

/** Blueprint's tag takes the keys of a button for itself, also where it is none. */
function keepFromTag(event: KeyboardEvent): void {
	if (event.key === 'Enter' || event.key === ' ') event.stopPropagation();
}
