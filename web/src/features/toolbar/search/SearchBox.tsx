import { Button, InputGroup } from '@blueprintjs/core';
import { CrossIcon, SearchIcon } from '@blueprintjs/icons';
import { type Entry, maxSearchLength, type StoragePath, shownName } from '@stowage/rules';
import { type KeyboardEvent, type RefObject, useId, useRef } from 'react';
import { hasFilters, type Search } from '../../../api/listings/search.js';
import { useFileSource } from '../../../api/sources/FileSource.js';
import { useScopedState } from '../../../ui/useScopedState.js';
import { Filters } from './Filters.js';
import { HitList, hitId } from './HitList.js';
import { hitKey, stepInHits } from './hits.js';
import { searchMessages as messages } from './messages.js';
import styles from './SearchBox.module.css';
import { type Hits, useHits } from './useHits.js';

export interface SearchBoxProps extends Search {
	directory: StoragePath;
	/** Another term, other filters, or both. */
	onSearch: (search: Partial<Search>) => void;
	/** Opens one of the hits that are shown while a term is typed. */
	onOpen: (entry: Entry) => void;
	filtersButton: RefObject<HTMLButtonElement | null>;
}

interface Typed {
	text: string;
	/** The hits are shown. */
	isOpen: boolean;
	/** The key of the hit that the arrow keys have chosen. */
	chosen: string | null;
}

/**
 * The search field with the hits below it, and the filters. The field keeps the role of a search field; assistive
 * technology follows the chosen hit by its id.
 */
export function SearchBox(props: SearchBoxProps) {
	const { search, filters, directory, onSearch, onOpen, filtersButton } = props;
	const { place } = useFileSource();
	// When the folder or the search in the URL changes, it replaces the typed text.
	const [typed, setTyped] = useScopedState<Typed>(`${place}:${directory}?${search}`);
	const field = useRef<HTMLInputElement>(null);
	const listId = useId();
	const { text, isOpen, chosen } = typed ?? { text: search, isOpen: false, chosen: null };
	const term = text.trim();
	const isShown = isOpen && term !== '';
	const found = useHits(directory, { search: term, filters }, isShown);
	const hits = isShown ? (found.hits ?? []) : [];
	const chosenIndex = hits.findIndex((entry) => hitKey(entry) === chosen);

	const change = (changed: Partial<Typed>) => setTyped((last) => ({ text, isOpen, chosen, ...last, ...changed }));
	const close = () => change({ isOpen: false, chosen: null });
	const clear = () => {
		// The button disappears with the text that it clears.
		field.current?.focus();
		change({ text: '', isOpen: false, chosen: null });
		if (search !== '') onSearch({ search: '' });
	};
	const open = (entry: Entry) => {
		close();
		onOpen(entry);
	};
	const onKeyDown = (event: KeyboardEvent) => {
		// The keys of an input method choose a letter.
		if (event.nativeEvent.isComposing) return;
		if (event.key === 'Escape' && (isShown || text !== '')) {
			event.stopPropagation();
			// Browsers clear a search field by this key.
			event.preventDefault();
			return isShown ? close() : clear();
		}
		if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
		const entry = hits[chosenIndex];
		if (event.key === 'Enter' && entry) {
			event.preventDefault();
			return open(entry);
		}
		const next = stepInHits(event.key, hits, chosen);
		if (next === undefined || term === '') return;
		event.preventDefault();
		change({ isOpen: true, chosen: next });
	};
	return (
		<search className={styles.search}>
			<form
				className={styles.searchForm}
				onSubmit={(event) => {
					event.preventDefault();
					close();
					onSearch({ search: term });
				}}
			>
				<InputGroup
					inputRef={field}
					className={styles.searchField}
					aria-label={messages.search}
					placeholder={messages.search}
					type="search"
					enterKeyHint="search"
					autoComplete="off"
					aria-autocomplete="list"
					aria-haspopup="listbox"
					{...(hits.length > 0 && { 'aria-controls': listId })}
					{...(chosenIndex >= 0 && { 'aria-activedescendant': hitId(listId, chosenIndex) })}
					maxLength={maxSearchLength}
					value={text}
					onValueChange={(value) => change({ text: value, isOpen: true, chosen: null })}
					onKeyDown={onKeyDown}
					onBlur={() => {
						if (isOpen) close();
					}}
					rightElement={
						text !== '' || search !== '' ? (
							<Button
								variant="minimal"
								size="small"
								icon={<CrossIcon size={14} />}
								aria-label={messages.clearSearch}
								onClick={clear}
							/>
						) : undefined
					}
				/>
				<Button type="submit" icon={<SearchIcon />} aria-label={messages.search} />
				{isShown && (
					<HitList
						{...found}
						id={listId}
						chosen={chosen}
						emptyText={hasFilters(filters) ? messages.noFilteredHits(term) : messages.noHits(term)}
						onOpen={open}
					/>
				)}
				<span className="visually-hidden" aria-live="polite">
					{isShown && !found.isLoading && announcement(found)}
				</span>
			</form>
			<Filters
				buttonRef={filtersButton}
				filters={filters}
				onApply={(applied) => onSearch({ search: term, filters: applied })}
			/>
		</search>
	);
}

/** What is said of the hits to who does not see them; nothing without an answer. */
function announcement({ hits, error }: Hits): string | undefined {
	return error ? shownName(error.message) : hits && messages.hitCount(hits.length);
}
