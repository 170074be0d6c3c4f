import { clinicOf, insertChips, insertRound, openClinic, outcomesOf } from './clinic.js';

/** A process that inserts rows in each round that its parent sends, and responds with the number of each outcome. Arguments: URL, index. */
const [, , url = '', index = '0'] = process.argv;
const database = await openClinic(url);
const clinic = clinicOf(database);

const WORK = {
  rows: (round: number) => insertRound(clinic, round, Number(index)),
  chips: (round: number) => insertChips(clinic, round, Number(index)),
  slot: async (round: number) => {
    const outcomes = await outcomesOf(Array.from({ length: 17 }, () => clinic.book({ petId: -BigInt(round) })));
    return Object.fromEntries(
      ['inserted', 'animal_booked'].map((outcome) => [outcome, outcomes.filter((each) => each === outcome).length]),
    );
  },
};

process.on('message', ({ kind, round }: { kind: keyof typeof WORK; round: number }) => {
  void WORK[kind](round).then((counts) => process.send?.(counts));
});
process.on('disconnect', () => void database.destroy());
process.send?.('ready');
