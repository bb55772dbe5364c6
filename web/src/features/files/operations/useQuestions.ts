import type { Area, MoveStep, StoragePath } from '@stowage/rules';
import { useCallback, useEffect, useState } from 'react';
import { useLatest } from '../../../ui/useLatest.js';
import { answer, type Questions, type Resolution, type TakenStep, unanswered } from './taken.js';

/** Asks what happens to items whose names are taken in this folder. Resolves to undefined if that is given up. */
export type Ask = (taken: readonly TakenStep[], area: Area, folder: StoragePath) => Promise<Questions | undefined>;

/** What is being asked. */
export interface Question {
	taken: TakenStep;
	area: Area;
	folder: StoragePath;
	/** How many are asked about yet, this one included. */
	left: number;
}

export interface Asking {
	ask: Ask;
	question: Question | undefined;
	answer: (resolution: Resolution, isForAll: boolean) => void;
	cancel: () => void;
}

interface Asked {
	area: Area;
	folder: StoragePath;
	questions: Questions;
	end: (questions: Questions | undefined) => void;
}

/** Asks one question after another, of one paste after another. Those that are open when the page is left are given up. */
export function useQuestions(): Asking {
	const [asked, setAsked] = useState<readonly Asked[]>([]);
	const latest = useLatest(asked);
	useEffect(
		() => () => {
			for (const { end } of latest.current) end(undefined);
		},
		[],
	);
	const [current, ...others] = asked;
	const left = current ? unanswered(current.questions) : [];
	const [taken] = left;

	const end = (questions: Questions | undefined) => {
		current?.end(questions);
		setAsked(others);
	};
	return {
		ask: useCallback((steps, area, folder) => {
			const questions = { taken: steps, answers: new Map<MoveStep, Resolution>() };
			if (steps.length === 0) return Promise.resolve(questions);
			return new Promise((resolve) => {
				setAsked((before) => [...before, { area, folder, questions, end: resolve }]);
			});
		}, []),
		question: current && taken && { taken, area: current.area, folder: current.folder, left: left.length },
		answer: (resolution, isForAll) => {
			if (!current) return;
			const questions = answer(current.questions, resolution, isForAll);
			if (unanswered(questions).length === 0) end(questions);
			else setAsked([{ ...current, questions }, ...others]);
		},
		cancel: () => end(undefined),
	};
}
