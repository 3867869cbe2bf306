# `.data` is the pronoun of ggplot2's aes(), known only inside of it.
utils::globalVariables(".data")
