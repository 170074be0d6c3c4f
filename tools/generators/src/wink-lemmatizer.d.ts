declare module 'wink-lemmatizer' {
  const lemmatizer: {
    /** Returns the singular of a noun, or the word itself if WordNet has none. */
    noun(word: string): string;
  };
  export default lemmatizer;
}
